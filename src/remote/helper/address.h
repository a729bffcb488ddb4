/* SPDX-License-Identifier: MIT
 *
 * Addresses of users, and what is asked for instead.
 */
#ifndef NT_FETCH_ADDRESS_H
#define NT_FETCH_ADDRESS_H

#include <stdbool.h>

/* How a server knows its users. */
enum nt_service {
    NT_SERVICE_WEB, /* http, https, WebDAV */
    NT_SERVICE_S3,  /* requests are signed */
};

/* The URL behind an address, by http or https, from malloc; else NULL, and why there is none. */
char *nt_address_url(const char *address, enum nt_service *service_ret, const char **problem_ret);

/* Whether its file stands for the objects of a store: NT_OBJECT_NUMBER is where the number of one is put into its URL (web_objects.h). */
bool nt_address_is_of_objects(const char *address);

/* Scheme, host and port of two URLs are the same. False of what is no URL. */
bool nt_address_is_same_server(const char *one, const char *other);

/* The URL that is asked what is in a folder, likewise; of S3 for what follows `token`, from the beginning where that is "". */
char *nt_address_list_url(const char *address, const char *token, enum nt_service *service_ret,
                          const char **problem_ret);

/* What the list of a folder calls it: of S3 what keys in it begin with; else the path of a URL that was asked. From malloc; NULL without memory. */
char *nt_address_folder(const char *address, const char *url);

#endif

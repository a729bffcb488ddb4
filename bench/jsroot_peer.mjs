// SPDX-License-Identifier: MIT
// jsroot_peer.mjs FILE FIELD ROUNDS: the seconds of each round behind a 0, opening not counted.
// The package "jsroot" is looked for in node_modules of the current folder and above it, and along NODE_PATH.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.cwd()}/`);
const jsroot = name => import(pathToFileURL(packages.resolve(`jsroot/${name}`)));
const { openFile } = await jsroot('io');
const { TSelector } = await jsroot('tree');
const { readHeaderFooter, rntupleProcess } = await jsroot('rntuple');

class Values extends TSelector {
   constructor(field, entries) {
      super();
      this.addBranch(field, 'value');
      this.values = new Float32Array(entries);
   }
   Process(entry) { this.values[entry] = this.tgtobj.value; }
}

const [path, field, rounds] = process.argv.slice(2);
const seconds = [];
for (let round = 0; round < Number(rounds); ++round) {
   const file = await openFile(path),
         tuple = await file.readObject('data'),
         header = await readHeaderFooter(tuple),
         entries = header.clusterSummaries.reduce((sum, cluster) => sum + cluster.numEntries, 0),
         selector = new Values(field, entries),
         start = performance.now();
   await rntupleProcess(tuple, selector);
   seconds.push(((performance.now() - start) / 1000).toFixed(6));
}
console.log(0, ...seconds);

#!/usr/bin/env node
import { existsSync } from 'node:fs'

const wanted = 24
const [major] = process.versions.node.split('.')
if (Number(major) < wanted) {
  console.error(`corral needs Node.js ${wanted} or newer, and this is ${process.version} (${process.execPath}).

Any of these helps:
  - install a newer Node.js from https://nodejs.org, then: npm install --global corral
  - with nvm:  nvm install ${wanted} && npm install --global corral
  - with fnm:  fnm install ${wanted} && fnm use ${wanted} && npm install --global corral
  - take the single executable of Corral, which brings its own Node.js
If a newer Node.js is installed already, put its directory first in PATH.`)
  process.exit(1)
}

const built = new URL('../dist/main.js', import.meta.url)
const main = existsSync(built) ? built : new URL('../src/main.ts', import.meta.url)
import(main.href).catch((error) => {
  console.error(error)
  process.exit(1)
})

#!/usr/bin/env node
import { existsSync } from 'node:fs'

const wanted = 24
const [major] = process.versions.node.split('.')
if (Number(major) < wanted) {
  console.error(`corral needs Node.js ${wanted} or newer; this is ${process.version} (${process.execPath}).`)
  process.exit(1)
}

const built = new URL('../dist/main.js', import.meta.url)
await import(existsSync(built) ? built.href : new URL('../src/main.ts', import.meta.url).href)

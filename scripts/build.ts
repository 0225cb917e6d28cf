/** Bundles the program into dist/: one file for the command line and daemon, one for the log's writer thread, one for the demo agent. */
import { rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

const ROOT = new URL('..', import.meta.url).pathname
rmSync(`${ROOT}dist`, { recursive: true, force: true })

const bundle = await rolldown({
  cwd: ROOT,
  input: { main: 'src/main.ts', writer: 'src/store/writer.ts', demo: 'src/agents/demo/main.ts' },
  platform: 'node',
  // The last two would make `ws` a little faster; it does without.
  external: [/^node:/, 'bufferutil', 'utf-8-validate'],
})
await bundle.write({
  dir: `${ROOT}dist`,
  format: 'esm',
  minify: false,
  entryFileNames: '[name].js',
  chunkFileNames: 'part-[name]-[hash].js',
})
await bundle.close()

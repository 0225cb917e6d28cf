/**
 * Bundles the program into dist/, or the directory that is named: one file for the command line and daemon, one for the log's
 * writer thread, one for the demo agent, the dashboard, the client for programs, and the notices of what is in them.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { buildClient, clientLine } from './client.ts'
import { noticesFor } from './notices/notices.ts'
import { budgetLine, buildWeb } from './web.ts'

const ROOT = join(import.meta.dirname, '..')
const dir = resolve(ROOT, process.argv[2] ?? 'dist')
rmSync(dir, { recursive: true, force: true })

const bundle = await rolldown({
  cwd: ROOT,
  input: { main: 'src/main.ts', writer: 'src/store/writer.ts', demo: 'src/agents/demo/main.ts' },
  platform: 'node',
  // The last two would make `ws` a little faster; it does without.
  external: [/^node:/, 'bufferutil', 'utf-8-validate'],
})
const { output } = await bundle.write({
  dir,
  format: 'esm',
  minify: false,
  entryFileNames: '[name].js',
  chunkFileNames: 'part-[name]-[hash].js',
})
await bundle.close()
const web = await buildWeb(join(dir, 'web'))
console.log(budgetLine(web))
const client = await buildClient(join(dir, 'client'))
console.log(clientLine(client))
const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
writeFileSync(join(dir, 'THIRD-PARTY-NOTICES'), noticesFor([...modules, ...web.modules, ...client.modules]))

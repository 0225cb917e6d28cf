import { enableCompileCache } from 'node:module'

// From source every start would strip types and compile anew; what the bundle would gain is not worth its files.
const source = import.meta.url.endsWith('.ts')
if (source) enableCompileCache(new URL('../node_modules/.cache/corral', import.meta.url).pathname)
const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))

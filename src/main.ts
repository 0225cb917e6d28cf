import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Compiled code is kept where everything of Corral's is kept, once there is such a place: a third off the time to start.
const home = process.env['CORRAL_HOME'] || join(homedir(), '.corral')
if (existsSync(home)) enableCompileCache(join(home, 'cache'))

const { run } = await import('./cli/run.ts')
process.exitCode = await run(process.argv.slice(2))

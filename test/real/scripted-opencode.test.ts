import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAcp } from '../support/model/acp.ts'
import { OPENCODE, opencodeAbsent, scriptedOpencode } from '../support/opencode-env.ts'
import { talksToTheScriptedModel } from '../support/talking.ts'

talksToTheScriptedModel(
  'opencode',
  opencodeAbsent,
  scriptedOpencode,
  ({ env, work }) => {
    writeFileSync(join(work, 'AGENTS.md'), '[[sysword zebra]]')
    const safe = { OPENCODE_SERVER_PASSWORD: 'test', OPENCODE_PERMISSION: '{"*":"ask"}' }
    return startAcp({ command: OPENCODE, args: ['acp'], cwd: work, env: { ...env, ...safe } })
  },
  {
    thought: 'deep thought',
    ask: /^refused: ask: no tool for that is offered/,
    failure: /scripted 500/,
  },
)

import { CODEX, codexAbsent, scriptedCodex } from '../support/codex-env.ts'
import { startCodex } from '../support/model/codex.ts'
import { talksToTheScriptedModel } from '../support/talking.ts'

talksToTheScriptedModel(
  'codex',
  codexAbsent,
  scriptedCodex,
  ({ env, work }) =>
    startCodex({ command: CODEX, args: ['app-server'], cwd: work, env }, '[[sysword zebra]]'),
  {
    thought: 'deep thought',
    ask: /^tool said: request_user_input is unavailable in Default mode/,
    failure: /high demand/,
  },
)

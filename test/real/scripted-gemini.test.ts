import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GEMINI, geminiAbsent, scriptedGemini } from '../support/gemini-env.ts'
import { startAcp } from '../support/model/acp.ts'
import { talksToTheScriptedModel } from '../support/talking.ts'

talksToTheScriptedModel(
  'gemini',
  geminiAbsent,
  scriptedGemini,
  ({ env, work }) => {
    const prompt = join(env['HOME']!, 'prompt.md')
    writeFileSync(prompt, '[[sysword zebra]]')
    const args = [GEMINI, '--acp']
    return startAcp({ command: process.execPath, args, cwd: work, env: { ...env, GEMINI_SYSTEM_MD: prompt } })
  },
  {
    // It takes a heading of a thought for granted.
    thought: '****\ndeep thought',
    ask: /^refused: ask: no tool for that is offered/,
    failure: /scripted 500/,
  },
)

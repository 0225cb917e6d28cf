import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsIn } from '../../web/state/commands-in.ts'

test('commands are found in advice', () => {
  assert.deepEqual(
    commandsIn('Codex is not installed: npm install -g @openai/codex, or set CORRAL_CODEX_BIN'),
    ['npm install -g @openai/codex'],
  )
  assert.deepEqual(commandsIn('run `codex login` or `corral login openai`'), [
    'codex login',
    'corral login openai',
  ])
  assert.deepEqual(commandsIn('chmod 700 /home/a/.corral'), ['chmod 700 /home/a/.corral'])
  assert.deepEqual(commandsIn('corral restart'), ['corral restart'])
  assert.deepEqual(commandsIn('free some space before it runs out'), [])
})

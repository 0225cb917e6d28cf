import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCommands } from '../../web/state/commands-in.ts'

const commandsIn = (text: string): string[] =>
  withCommands(text)
    .filter(({ isCommand }) => isCommand)
    .map((piece) => piece.text)

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

test('nothing of the advice is lost', () => {
  assert.deepEqual(
    withCommands('run `codex login` or look').map(({ text }) => text),
    ['run ', 'codex login', ' or look'],
  )
})

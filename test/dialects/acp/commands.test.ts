import assert from 'node:assert/strict'
import { test } from 'node:test'
import { methods } from '@agentclientprotocol/sdk/unstable'
import { homeWithAgent } from '../../support/acp.ts'
import { startDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { editorFor, newSession, type TestEditor } from './support.ts'

test('an editor hears of the commands of the agent, now and when it comes back', async (t) => {
  const daemon = await startDaemon({ home: homeWithAgent() })
  t.after(() => daemon.stop())
  const args = ['--agent', 'mine', '--mode', 'auto']
  const editor = await editorFor(t, daemon, { args })
  const sessionId = await newSession(editor, daemon)
  assert.deepEqual(commandsOf(editor), [])
  const names = async (...availableCommands: object[]): Promise<void> => {
    const update = { sessionUpdate: 'available_commands_update', availableCommands }
    await editor.prompt(sessionId, JSON.stringify({ update }))
  }
  const review = { name: 'review', description: 'Looks at the changes' }
  await names(review)
  await until(() => commandsOf(editor).length === 1, 'they are told')
  await names(review, { name: 'init', description: '' })
  await until(() => commandsOf(editor).length === 2, 'they are told')
  assert.deepEqual(commandsOf(editor), [
    'review: Looks at the changes',
    'review: Looks at the changes, init: ',
  ])
  const other = await editorFor(t, daemon, { args })
  await other.agent.request(methods.agent.session.load, { sessionId, cwd: daemon.project, mcpServers: [] })
  await until(() => commandsOf(other).length > 0, 'they are told')
  assert.deepEqual(commandsOf(other), ['review: Looks at the changes, init: '])
})

/** Each list of commands that it was shown, in a line. */
function commandsOf({ updates }: TestEditor): string[] {
  return updates.flatMap((update) =>
    update.sessionUpdate === 'available_commands_update'
      ? [update.availableCommands.map(({ name, description }) => `${name}: ${description}`).join(', ')]
      : [],
  )
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commandsOf } from '../../src/agents/commands.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { recorded as acpLines, translate as acp } from './acp-recordings.ts'
import { recorded as claudeLines, translate as claude } from './claude-recordings.ts'

/** Each list of commands that is said, in a line. */
function told(outputs: readonly DriverOutput[]): string[] {
  return outputs.flatMap((output) =>
    output.type === 'agent.commands'
      ? [output.commands.map(({ name, about }) => (about === null ? name : `${name}: ${about}`)).join(', ')]
      : [],
  )
}

describe('the commands of an agent', () => {
  test('Claude names them in every turn, and they are said once', () => {
    const lines = claudeLines('set-mode-and-model')
    const inits = lines.filter((line) => JSON.stringify(line).includes('slash_commands'))
    assert.ok(inits.length > 1)
    assert.deepEqual(told(claude(lines)), ['deep-research, dataviz, update-config'])
    const other = JSON.parse(JSON.stringify(inits[0]).replace('"dataviz",', '')) as unknown
    assert.deepEqual(told(claude([...lines, other])).at(-1), 'deep-research, update-config')
  })

  test('an agent of the protocol tells of them at any time, and says what they do', () => {
    const update = (...availableCommands: unknown[]) => ({
      jsonrpc: '2.0',
      method: 'session/update',
      params: { update: { sessionUpdate: 'available_commands_update', availableCommands } },
    })
    const review = { name: 'review', description: ' Looks at the changes ' }
    const lines = [
      ...acpLines('gemini-simple'),
      update(review),
      update(review),
      update(review, { name: 'init' }),
    ]
    assert.deepEqual(told(acp('gemini-simple', lines).flat()).slice(-2), [
      'review: Looks at the changes',
      'review: Looks at the changes, init',
    ])
    assert.deepEqual(told(acp('gemini-simple', [...lines, update()]).flat()).at(-1), '', 'they can be gone')
  })

  test('what is no name of a command is left out, and there is an end to them', () => {
    const odd = [7, null, '', 'two words', { description: 'x' }, { name: 'x'.repeat(500) }, '/slashed']
    assert.deepEqual(commandsOf(odd), [{ name: 'slashed', about: null }])
    assert.deepEqual(commandsOf('nothing'), [])
    assert.equal(commandsOf(Array.from({ length: 1000 }, (_, at) => `c${at}`)).length, 200)
    assert.equal(commandsOf([{ name: 'a', description: 'x'.repeat(9999) }])[0]!.about!.length, 300)
  })
})

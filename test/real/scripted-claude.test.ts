import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { claudeAbsent } from '../support/claude-env.ts'
import { type Claude, type ClaudeLine, startClaude } from '../support/model/claude.ts'
import { type ScriptedModel, startScriptedModel } from '../support/model/server.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('the real claude on the scripted model', { skip: claudeAbsent, concurrency: false }, () => {
  let model: ScriptedModel
  let claude: Claude

  before(async () => {
    model = await startScriptedModel()
    claude = startClaude({ modelUrl: model.url, args: ['--append-system-prompt', '[[sysword zebra]]'] })
  })
  after(async () => {
    await claude?.close()
    await model?.close()
  })

  const textDeltas = () => claude.lines.filter((line) => line.event?.delta?.type === 'text_delta')
  const asked = (after: number) => {
    return claude.wait(
      (line) => line.type === 'control_request' && claude.lines.indexOf(line) >= after,
      'approval',
    )
  }
  const allow = (ask: ClaudeLine, change: object = {}) => {
    const response = { behavior: 'allow', updatedInput: { ...ask.request?.input, ...change } }
    claude.send({
      type: 'control_response',
      response: { subtype: 'success', request_id: ask.request_id, response },
    })
  }
  const resultOf = (uuid: string) => {
    return claude.wait(
      (line) => line.type === 'result' && line.user_message_uuids?.includes(uuid) === true,
      'result',
    )
  }
  const tool = async (script: string, name: string, change: object = {}) => {
    const start = claude.lines.length
    const uuid = claude.say(script)
    const ask = await asked(start)
    assert.equal(ask.request?.tool_name, name)
    allow(ask, change)
    return resultOf(uuid)
  }

  test('says what the script says', async () => {
    const result = await claude.turn('[[say one, two: [three]]]')
    assert.equal(result.result, 'one, two: [three]')
    assert.equal(result.is_error, false)
  })

  test('echoes a text without a directive, without the reminders around it', async () => {
    assert.equal((await claude.turn('hello there')).result, 'echo: hello there')
  })

  test('streams dripped words one by one', async () => {
    const before = textDeltas().length
    const result = await claude.turn('[[drip 5 20]]')
    assert.equal(result.result, 'w1 w2 w3 w4 w5')
    const pieces = textDeltas().slice(before)
    assert.deepEqual(
      pieces.map((line) => line.event?.delta?.text),
      ['w1', ' w2', ' w3', ' w4', ' w5'],
    )
  })

  test('streams a burst completely', async () => {
    const result = await claude.turn('[[burst 300 10]]')
    assert.equal(result.result, 'x'.repeat(3000))
  })

  test('thinks before it speaks', async () => {
    const start = claude.lines.length
    const result = await claude.turn('[[think deep thought]] [[say 42]]')
    assert.equal(result.result, '42')
    const blocks = claude.lines
      .slice(start)
      .flatMap((line) => (line.type === 'assistant' ? line.message!.content : []))
    assert.deepEqual(
      blocks.map((block) => block.thinking ?? block.text),
      ['deep thought', '42'],
    )
  })

  test('runs a shell command once it is allowed', async () => {
    const result = await tool('[[shell touch made.txt && echo created]]', 'Bash')
    assert.equal(result.result, 'tool said: created')
    assert.ok(existsSync(join(claude.cwd, 'made.txt')))
  })

  test('writes and edits a file in its directory', async () => {
    const written = await tool('[[write notes.txt some old text]]', 'Write')
    assert.match(written.result ?? '', /^tool said: File created successfully/)
    await tool('[[edit notes.txt old new]]', 'Edit')
    assert.equal(readFileSync(join(claude.cwd, 'notes.txt'), 'utf8'), 'some new text')
  })

  test('refuses a path outside its directory', async () => {
    const result = await claude.turn('[[write ../outside.txt text]]')
    assert.match(result.result ?? '', /^refused: write: \.\.\/outside\.txt is not inside/)
  })

  test('asks a question and hears the answer', async () => {
    const result = await tool('[[ask Shall we?]]', 'AskUserQuestion', { answers: { 'Shall we?': 'Yes' } })
    assert.match(result.result ?? '', /^tool said: .*Shall we\?.*Yes/)
  })

  test('calls two tools in one turn, by name', async () => {
    const input = Buffer.from(JSON.stringify({ command: 'echo twice', description: 'd' })).toString('base64')
    const result = await claude.turn(`[[call Bash ${input} Bash ${input}]]`)
    assert.equal(result.result, 'tool said: twice\ntwice')
  })

  test('says something and then calls a tool', async () => {
    const input = Buffer.from(JSON.stringify({ command: 'echo hi', description: 'd' })).toString('base64')
    const start = claude.lines.length
    const result = await claude.turn(
      `[[saycall ${Buffer.from('here goes').toString('base64')} Bash ${input}]]`,
    )
    assert.equal(result.result, 'tool said: hi')
    const blocks = claude.lines
      .slice(start)
      .flatMap((line) => (line.type === 'assistant' ? line.message!.content : []))
    assert.deepEqual(
      blocks.map((block) => block.text ?? block.name),
      ['here goes', 'Bash', 'tool said: hi'],
    )
  })

  test('recalls what an earlier turn was to remember', async () => {
    await claude.turn('[[remember marzipan]] [[say noted]]')
    assert.equal((await claude.turn('[[recall]]')).result, 'recall: marzipan')
  })

  test('sees the system prompt', async () => {
    assert.equal((await claude.turn('[[system]]')).result, 'system: zebra')
  })

  test('sees an attached image', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: PIXEL }
    const result = await claude.turn([
      { type: 'image', source },
      { type: 'text', text: '[[attachments]]' },
    ])
    assert.equal(result.result, `attachments: 1 image/png/${Buffer.from(PIXEL, 'base64').length}`)
  })

  test('goes on after an interrupt of a model that never answers', async () => {
    const requested = model.next()
    const uuid = claude.say('[[hang]]')
    await requested
    await claude.control({ subtype: 'interrupt' })
    assert.match((await resultOf(uuid)).terminal_reason ?? '', /^aborted_/)
    assert.equal((await claude.turn('still there?')).result, 'echo: still there?')
  })

  test('reports the failure of the model', async () => {
    const result = await claude.turn('[[fail 529]]')
    assert.equal(result.is_error, true)
    assert.equal(result.api_error_status, 529)
    assert.equal((await claude.turn('[[say recovered]]')).result, 'recovered')
  })
})

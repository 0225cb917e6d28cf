import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imagesIn } from '../../src/agents/images.ts'
import type { DriverOutput } from '../../src/agents/output.ts'
import { engineWith, sessionOf } from '../support/acp.ts'
import { ACCEPTED, item, OPENED, STARTED } from './codex-said.ts'
import { only, translate as codex } from './codex-recordings.ts'
import { translate as claude } from './claude-recordings.ts'

const DOT = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
const ANTHROPIC = { type: 'image', source: { type: 'base64', media_type: DOT.mediaType, data: DOT.data } }
const MCP = { type: 'image', mimeType: DOT.mediaType, data: DOT.data }
const TEXT = { type: 'text', text: 'here it is' }

const result = (outputs: DriverOutput[]) => {
  const [end] = only(outputs, 'tool.completed')
  return [end!.output, end!.images]
}

test('an image in the result of a tool of Claude’s is kept, and its text says where it was', () => {
  const content = [{ type: 'tool_result', tool_use_id: 'c', content: [TEXT, ANTHROPIC] }]
  const outputs = claude([{ type: 'user', message: { content } }])
  assert.deepEqual(result(outputs), ['here it is\n[image]', [DOT]])
})

test('… of a server’s tool that Codex calls, too', () => {
  const call = { type: 'mcpToolCall', id: 'x', server: 'camera', tool: 'look', arguments: {} }
  const end = { ...call, result: { content: [TEXT, MCP] }, error: null }
  const outputs = codex([OPENED, ACCEPTED, STARTED, item('started', call), item('completed', end)])
  assert.deepEqual(result(outputs), ['here it is\n[image]', [DOT]])
})

test('… and of any agent that speaks ACP', async (t) => {
  const engine = await engineWith(t)
  const update = {
    sessionUpdate: 'tool_call',
    toolCallId: 'c',
    kind: 'read',
    title: 'x',
    status: 'completed',
    content: [TEXT, MCP].map((content) => ({ type: 'content', content })),
  }
  const events = await engine.turn(await sessionOf(engine), JSON.stringify({ deeds: [{ update }] }))
  const [end] = events.filter((event) => event.type === 'tool.completed')
  assert.deepEqual([end!.output, end!.images], ['here it is\n[image]', [DOT]])
})

test('what cannot be shown, is not base64 or is too much is left out', () => {
  const images = (...blocks: unknown[]): number => imagesIn(blocks).images?.length ?? 0
  assert.equal(images(MCP, ANTHROPIC), 2)
  assert.equal(images(null, 'x', {}, { type: 'image' }, { ...MCP, data: 5 }, TEXT), 0)
  assert.equal(images({ ...MCP, mimeType: 'image/svg+xml' }), 0)
  assert.equal(images({ ...MCP, data: '<script>' }), 0)
  assert.equal(images(...Array.from({ length: 20 }, () => MCP)), 8)
  const half = { ...MCP, data: 'A'.repeat(600 * 1024) }
  assert.equal(images(half, half, MCP), 2, 'the second large one does not fit, the small one does')
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { codexTranslator } from '../../src/agents/codex/translator.ts'
import { aSession } from '../support/session.ts'
import { only, story, translate } from './codex-recordings.ts'
import { ACCEPTED, asks, COMMAND, ended, item, note, OPENED, STARTED } from './codex-said.ts'

describe('sub-agents', () => {
  const spawn = { type: 'collabAgentToolCall', id: 'spawn', tool: 'spawnAgent', receiverThreadIds: [] }
  const named = item('completed', { ...spawn, receiverThreadIds: ['K'] })
  const begun = (threadId: string, rootTurnId: string) =>
    note('turn/started', { threadId, turn: { id: `${threadId}1`, rootTurnId } })
  const said = { type: 'agentMessage', id: 'm', text: 'from below' }
  const below = { ...COMMAND, id: 'k1' }
  const question = asks('item/commandExecution/requestApproval', {
    threadId: 'K',
    itemId: 'k1',
    command: 'ls',
  })
  const SPAWNED = [OPENED, ACCEPTED, STARTED, item('started', spawn)]

  test('one belongs to the call that started it, a stranger to nobody', () => {
    const ways = {
      'the call names it': [named, begun('K', 'C1')],
      'its turn is rooted in ours': [begun('K', 'C1'), named],
      'its conversation names its parent': [
        { method: 'thread/started', params: { thread: { id: 'K', parentThreadId: 'T' } } },
      ],
    }
    const strangers = [
      begun('Z', 'Y1'),
      { method: 'thread/started', params: { thread: { id: 'Z', parentThreadId: 'Y' } } },
      item('completed', { ...spawn, id: 'other', receiverThreadIds: ['Z'] }, 'Y'),
    ]
    for (const [way, lines] of Object.entries(ways)) {
      const outputs = translate([
        ...SPAWNED,
        ...strangers,
        ...lines,
        item('completed', said, 'K'),
        item('completed', said, 'Z'),
        item('started', below, 'K'),
        question,
        note('turn/completed', { threadId: 'K', turn: { id: 'C1', status: 'completed' } }),
      ])
      const parents = [
        ...only(outputs, 'message.completed').map((it) => it.parent),
        ...only(outputs, 'tool.started').map((it) => it.parent),
        ...only(outputs, 'approval.asked').map((it) => it.approval.parent),
      ]
      assert.deepEqual(parents, ['spawn', null, 'spawn', 'spawn'], way)
      assert.deepEqual(only(outputs, 'turn.ended'), [], way)
    }
  })

  test('what it does and asks goes on when the turn is over; an interrupt stops it', () => {
    const rest = [named, item('started', below, 'K'), question]
    const resolved = note('serverRequest/resolved', { requestId: 7, threadId: 'K' })
    const done = item('completed', { ...below, exitCode: 0, aggregatedOutput: 'x' }, 'K')
    const told = (...lines: unknown[]) => story(translate([...SPAWNED, ...rest, ...lines])).slice(7)
    assert.deepEqual(told(ended('completed'), resolved, done), [
      'completed',
      'asked command k1',
      'withdrawn 7',
      'output k1 x',
    ])
    assert.deepEqual(told(resolved, ended('completed')), ['withdrawn 7', 'completed'])
    const wish = { id: 's1:interrupt', result: { thread: { id: 'T' } } }
    const outputs = translate([...SPAWNED, ...rest, wish, ended('interrupted')])
    assert.deepEqual(
      only(outputs, 'agent.request').map((it) => (it.request as { children: string[] }).children),
      [['K'], ['K']],
    )
    const clean = { id: 's1:clean', result: {} }
    assert.deepEqual(told(resolved, ended('interrupted'), clean, done), [
      'withdrawn 7',
      'wants clean',
      'error k1 It was cut off.',
      'interrupted',
    ])
  })

  test('those of earlier turns are asked for, and what they said meanwhile is not lost', () => {
    const before = codexTranslator.initial(aSession({ nativeId: 'T' }))
    const strange = { ...question, id: 8, params: { ...question.params, threadId: 'Z' } }
    const met = { id: 's1:barrier:b', result: { thread: { id: 'T' } } }
    const list = { id: 's1:children', result: { data: [{ id: 'K', parentThreadId: 'T' }, 3] } }
    const asking = (id: number, itemId: string) => ({
      ...question,
      id,
      params: { ...question.params, itemId },
    })
    const settled = [
      item('started', { ...below, id: 'k0' }, 'K'),
      asking(6, 'k0'),
      note('serverRequest/resolved', { requestId: 6, threadId: 'K' }),
      item('completed', { ...below, id: 'k0', exitCode: 0 }, 'K'),
    ]
    const done = item('completed', { ...below, exitCode: 0, aggregatedOutput: 'x' }, 'K')
    const lines = [...settled, item('started', below, 'K'), question, strange, met, list, list, done]
    const wish = { id: 's1:interrupt', result: { thread: { id: 'T' } } }
    const rest = [{ ...ACCEPTED }, STARTED, wish, ended('interrupted'), { id: 's1:clean', result: {} }]
    assert.deepEqual(story(translate([...lines, ...rest], before)), [
      'ready',
      'barrier.reached',
      'wants children',
      'wants models',
      'asked command k1',
      'output k1 x',
      'accepted t1',
      'wants stop',
      'wants clean',
      'interrupted',
      'asked command k1',
    ])
    const none = { id: 's1:children', error: { message: 'unknown' } }
    assert.deepEqual(story(translate([question, none, question, met], before)), [
      'ready',
      'barrier.reached',
      'wants models',
    ])
  })
})

describe('what passes in `code`', () => {
  const there = codexTranslator.initial(
    aSession({ cwd: '/project', settings: { additionalDirectories: ['/more/'] } }),
  )
  const passes = (changes: object[], more: object = {}) => {
    const change = { type: 'fileChange', id: 'c1', changes }
    const asking = asks('item/fileChange/requestApproval', more)
    const outputs = translate([OPENED, ACCEPTED, STARTED, item('started', change), asking], there)
    return only(outputs, 'approval.asked')[0]!.approval.edits
  }
  const update = (path: string, to: string | null = null) => ({
    path,
    kind: { type: 'update', move_path: to },
    diff: '',
  })

  test('is an edit of files where the session works, and nothing else', () => {
    assert.ok(passes([update('/project/a'), update('/more/b/c'), update('d/e')]))
    assert.ok(passes([update('/project/..a'), update('/project/a', '/more/a')]))
    for (const path of [
      '/elsewhere/a',
      '/project/../a',
      '/projects/a',
      '../a',
      '/more',
      '/project/.git/hooks/a',
    ]) {
      assert.equal(passes([update('/project/a'), update(path)]), false, path)
      assert.equal(passes([update('/project/a', path)]), false, `to ${path}`)
    }
    assert.equal(passes([update('/project/a')], { grantRoot: '/' }), false)
    assert.equal(passes([]), false)
  })

  test('a file that is moved is shown with where to, and not as one path for rules', () => {
    const change = { type: 'fileChange', id: 'f', changes: [update('/project/a', '/b')] }
    const [moved] = only(translate([OPENED, ACCEPTED, STARTED, item('started', change)]), 'tool.started')
    assert.deepEqual(moved!.input, { changes: [{ path: '/project/a', to: '/b', kind: 'update', diff: '' }] })
  })
})

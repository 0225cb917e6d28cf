import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Facts,
  planOf,
  rememberedIn,
  type Utterance,
  type Action,
} from '../../src/agents/demo/script.ts'

const FACTS: Facts = {
  system: [],
  effort: null,
  remembered: null,
  attachments: [],
  directory: '/home/dev/project',
}
const base64 = (text: string) => Buffer.from(text).toString('base64')
const user = (text: string): Utterance => ({ by: 'user', text })
const tool = (text: string): Utterance => ({ by: 'tool', text })
const plan = (text: string, facts: Partial<Facts> = {}) => planOf([user(text)], { ...FACTS, ...facts })
const say = (text: string): Action[] => [{ do: 'say', text }]
const answer = (steps: Action[]) => (steps[0]?.do === 'say' ? steps[0].text : JSON.stringify(steps))

describe('every directive', () => {
  const LS = base64('{"command":"ls"}')
  const rows: [string, Action[], Partial<Facts>?][] = [
    ['[[say exactly this]]', say('exactly this')],
    [`[[say64 ${base64('tea ☕ ]] now')}]]`, say('tea ☕ ]] now')],
    ['[[words 3]]', say('w1 w2 w3')],
    ['[[words 0]]', say('')],
    ['[[drip 4 25]]', [{ do: 'drip', words: 4, everyMs: 25 }]],
    ['[[think hard]]', [{ do: 'think', text: 'hard' }, ...say('done')]],
    ['[[think hard]] [[words 1]]', [{ do: 'think', text: 'hard' }, ...say('w1')]],
    [
      `[[call Bash ${LS}]]`,
      [{ do: 'call', call: { tool: 'named', name: 'Bash', input: { command: 'ls' } } }],
    ],
    [
      `[[call A ${LS} B ${base64('{}')}]]`,
      [
        { do: 'call', call: { tool: 'named', name: 'A', input: { command: 'ls' } } },
        { do: 'call', call: { tool: 'named', name: 'B', input: {} } },
      ],
    ],
    [
      `[[saycall ${base64('here goes')} Bash ${LS}]]`,
      [...say('here goes'), { do: 'call', call: { tool: 'named', name: 'Bash', input: { command: 'ls' } } }],
    ],
    [
      `[[slowcall 50 A ${LS} B ${base64('{}')}]]`,
      [
        { do: 'call', call: { tool: 'named', name: 'A', input: { command: 'ls' } } },
        { do: 'wait', ms: 50 },
        { do: 'call', call: { tool: 'named', name: 'B', input: {} } },
      ],
    ],
    ['[[shell ls -l | wc]]', [{ do: 'call', call: { tool: 'shell', command: 'ls -l | wc' } }]],
    [
      '[[write src/a.txt two words]]',
      [{ do: 'call', call: { tool: 'write', path: '/home/dev/project/src/a.txt', text: 'two words' } }],
    ],
    [
      '[[edit a.txt old brand new]]',
      [
        {
          do: 'call',
          call: { tool: 'edit', path: '/home/dev/project/a.txt', before: 'old', after: 'brand new' },
        },
      ],
    ],
    ['[[ask Shall we?]]', [{ do: 'call', call: { tool: 'ask', question: 'Shall we?' } }]],
    ['[[system]]', say('system: A B'), { system: ['x [[sysword A]] y', '[[sysword B]]'] }],
    ['[[system]]', say('system: none')],
    [
      '[[attachments]]',
      say('attachments: 2 image/png/70 application/pdf/1024'),
      {
        attachments: [
          { mediaType: 'image/png', bytes: 70 },
          { mediaType: 'application/pdf', bytes: 1024 },
        ],
      },
    ],
    ['[[attachments]]', say('attachments: 0')],
    ['[[recall]]', say('recall: blue'), { remembered: 'blue' }],
    ['[[recall]]', say('recall: none')],
    ['[[fail 429]]', [{ do: 'fail', status: 429 }]],
    ['[[sayfail 500 half an]]', [...say('half an'), { do: 'fail', status: 500 }]],
    ['[[hang]]', [{ do: 'hang' }]],
    ['[[burst 1000 64]]', [{ do: 'burst', count: 1000, bytes: 64 }]],
  ]
  for (const [text, steps, facts] of rows) {
    test(`${text} is obeyed`, () => assert.deepEqual(plan(text, facts), steps))
  }
})

describe('what decides', () => {
  test('the last directive wins', () =>
    assert.deepEqual(plan('[[say one]] and [[say two]] please'), say('two')))
  test('a text without a directive is echoed', () => assert.deepEqual(plan('hello'), say('echo: hello')))
  test('an unknown directive is only text', () => assert.deepEqual(plan('[[dance]]'), say('echo: [[dance]]')))
  test('markers are not directives', () => {
    assert.deepEqual(plan('[[remember a]] [[sysword b]]'), say('echo: [[remember a]] [[sysword b]]'))
  })
  test('a tool result without a directive is quoted, cut at 400 characters', () => {
    assert.deepEqual(planOf([tool('x'.repeat(500))], FACTS), say(`tool said: ${'x'.repeat(400)}`))
  })
  test('several tool results are quoted together', () => {
    assert.deepEqual(planOf([tool('one'), tool('two')], FACTS), say('tool said: one\ntwo'))
  })
  test('a directive in a tool result is obeyed', () => {
    assert.deepEqual(planOf([tool('it printed [[say hi]]')], FACTS), say('hi'))
  })
  test('a text after a tool result wins over the result', () => {
    assert.deepEqual(planOf([tool('output'), user('never mind')], FACTS), say('echo: never mind'))
  })
  test('nothing at all is echoed as nothing', () => assert.deepEqual(planOf([], FACTS), say('echo: ')))
})

describe('brackets', () => {
  test('an argument may end in a bracket', () => assert.deepEqual(plan('[[say [a]]]'), say('[a]')))
  test('an argument may hold a directive', () => {
    assert.deepEqual(plan("[[shell echo '[[say hi]]']]"), [
      { do: 'call', call: { tool: 'shell', command: "echo '[[say hi]]'" } },
    ])
  })
  test('an argument may have several lines', () => assert.deepEqual(plan('[[say a\nb]]'), say('a\nb')))
  test('what is never closed does not hide what is', () => assert.deepEqual(plan('[[ [[say a]]'), say('a')))
  test('a megabyte of opening brackets is no trouble', () => {
    assert.match(answer(plan('[[ '.repeat(350_000))), /^echo: /)
  })
})

describe('what is refused', () => {
  for (const path of [
    '../x',
    '/etc/passwd',
    'a/../../x',
    '.',
    '/home/dev/project',
    '/home/dev/project2/x',
    'a\0b',
  ]) {
    test(`a write to ${JSON.stringify(path)}`, () => {
      assert.match(
        answer(plan(`[[write ${path} text]]`)),
        /^refused: write: .* is not inside the session's directory/,
      )
    })
  }
  test('an edit outside of the directory', () => {
    assert.match(answer(plan('[[edit ../x a b]]')), /^refused: edit: /)
  })
  test('any path when the directory is not known', () => {
    assert.match(answer(plan('[[write a.txt text]]', { directory: null })), /^refused: write: .*not known/)
  })
  const malformed = [
    '[[words]]',
    '[[words x]]',
    '[[drip 3]]',
    '[[burst 999999999 9]]',
    '[[burst 1000000 1000]]',
  ]
  malformed.push(
    '[[call Bash]]',
    '[[call Bash !!!]]',
    '[[saycall eA== B]]',
    '[[slowcall B]]',
    '[[fail 200]]',
    '[[say64 /w==]]',
  )
  for (const text of [...malformed, `[[call Bash ${base64('[1]')}]]`]) {
    test(`the malformed ${text}`, () => assert.match(answer(plan(text)), /^refused: /))
  }
})

test('an absolute path inside the directory is taken', () => {
  assert.deepEqual(plan('[[write /home/dev/project/a b]]'), [
    { do: 'call', call: { tool: 'write', path: '/home/dev/project/a', text: 'b' } },
  ])
})

test('the last marker is what is remembered, also inside a directive', () => {
  assert.equal(rememberedIn('[[remember one]] [[say [[remember two words]]]]'), 'two words')
  assert.equal(rememberedIn('nothing'), null)
})

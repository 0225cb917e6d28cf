import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseQuery } from '../../src/core/search/query.ts'
import { snippetOf } from '../../src/core/search/snippet.ts'
import { wordsOf } from '../../src/core/search/words.ts'
import { randomly } from '../support/random.ts'

const words = (text: string): string[] => wordsOf(text).words.map((word) => word.text)
const wholes = (text: string): string[] => wordsOf(text).wholes.map((word) => word.text)

test('words of many languages', () => {
  const samples: [string, string[]][] = [
    ['Hello, World!', ['hello', 'world']],
    ['École déjà vu — Ünïcödé', ['ecole', 'deja', 'vu', 'unicode']],
    ['e\u0301te\u0301', ['ete']],
    ['МОСКВА й ёлка', ['москва', 'и', 'елка']],
    ['Straße İstanbul', ['straße', 'istanbul']],
    ['日本語のテスト', ['日', '本', '語', 'の', 'テ', 'ス', 'ト']],
    ['abc漢字def', ['abc', '漢', '字', 'def']],
    ['한국어 문장입니다', ['한국어', '문장입니다']],
    ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
    ['مرحبا بالعالم', ['مرحبا', 'بالعالم']],
    ['ｆｕｌｌ ﬁne', ['full', 'fine']],
    ['a😀b \ud800x', ['a', 'b', 'x']],
    ['', []],
    ['--- ,.;!', []],
  ]
  for (const [text, expected] of samples) assert.deepEqual(words(text), expected, text)
})

test('names in code: their parts, and the whole', () => {
  assert.deepEqual(words('parseHTTPRequest2(foo_bar, baz-qux)'), [
    'parse',
    'http',
    'request2',
    'foo',
    'bar',
    'baz',
    'qux',
  ])
  assert.deepEqual(wholes('parseHTTPRequest2 JavaScript plain ÜberGröße'), [
    'parsehttprequest2',
    'javascript',
    'ubergroße',
  ])
  assert.deepEqual(words('src/core/engine.ts:42'), ['src', 'core', 'engine', 'ts', '42'])
  const blob = 'aB'.repeat(5000)
  assert.deepEqual(
    words(blob).map((word) => word.length),
    [100],
    'what is no word is not taken apart',
  )
})

test('a word is where it says', () => {
  const random = randomly(3)
  const letters = [
    'a',
    'B',
    'é',
    'e\u0301',
    '漢',
    'ส',
    'ว\u0e31',
    ' ',
    '_',
    '-',
    '😀',
    '\n',
    '7',
    'ﬁ',
    '\udc00',
  ]
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: random(30) }, () => letters[random(letters.length)]).join('')
    const found = wordsOf(text)
    for (const { text: word, from, to } of [...found.words, ...found.wholes]) {
      assert.deepEqual(words(text.slice(from, to)).join(''), word, JSON.stringify(text))
    }
    const again = found.words.map((word) => word.text)
    assert.deepEqual(words(again.join(' ')), again, 'words of words are the same words')
  }
})

test('a query is words, "words in a row", and beginnings', () => {
  const closed = (...list: string[]) => ({ words: list, open: false })
  const open = (...list: string[]) => ({ words: list, open: true })
  const samples: [string, ReturnType<typeof open>[]][] = [
    ['hello wor', [closed('hello'), open('wor')]],
    ['hello wo', [closed('hello'), closed('wo')]],
    ['wo*', [open('wo')]],
    ['hello wor ', [closed('hello'), closed('wor')]],
    ['"hello world"', [closed('hello', 'world')]],
    ['"hello wor', [open('hello', 'wor')]],
    ['beg* end ', [open('beg'), closed('end')]],
    ['foo_bar ', [closed('foo', 'bar')]],
    ['fooBar ', [closed('foo', 'bar')]],
    ['漢字', [open('漢', '字')]],
    ['a"b c"d ', [closed('a'), closed('b', 'c'), closed('d')]],
    ['" " "" * -', []],
    ['NEAR(a b) OR NOT ', [closed('near', 'a'), closed('b'), closed('or'), closed('not')]],
  ]
  for (const [text, expected] of samples) assert.deepEqual(parseQuery(text), expected, text)
  assert.ok(parseQuery('a '.repeat(10_000)).length <= 20)
  assert.ok(parseQuery('x'.repeat(100_000))[0]!.words[0]!.length <= 500)
})

test('a snippet is around what was looked for, and marks it', () => {
  const marked = (text: string, query: string): string => {
    const snippet = snippetOf(text, parseQuery(query))
    let out = snippet.text
    for (const [from, to] of snippet.marks.toReversed()) {
      out = `${out.slice(0, from)}[${out.slice(from, to)}]${out.slice(to)}`
    }
    return out
  }
  assert.equal(marked('The quick brown fox', 'quick fo*'), 'The [quick] brown [fox]')
  assert.equal(marked('call parseRequest now', 'parserequest '), 'call [parseRequest] now')
  assert.equal(marked('call parseRequest now', 'request '), 'call parse[Request] now')
  assert.equal(marked('call parse_request now', 'parseRequest '), 'call [parse_request] now')
  assert.equal(marked('今日は日本語を話す', '日本語'), '今日は[日本語]を話す')
  assert.equal(marked('Déjà vu', '"deja vu"'), '[Déjà vu]')
  assert.equal(marked('nothing of it', 'other '), 'nothing of it')
  const far = `${'word '.repeat(200)}needle ${'word '.repeat(200)}`
  assert.match(marked(far, 'needle '), /^…(word )+\[needle\] (word )+.*…$/)
  assert.ok(snippetOf(far, parseQuery('needle ')).text.length < 260)
  const crowd = `needle ${'word '.repeat(100)} needle and thread`
  assert.match(marked(crowd, 'needle thread '), /\[needle\] and \[thread\]$/)
})

test('a snippet of anything is whole characters, and its marks are inside', () => {
  const random = randomly(11)
  const letters = ['a', 'b ', '漢', '😀', ' ', 'é', '\n']
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: random(600) }, () => letters[random(letters.length)]).join('')
    const { text: part, marks } = snippetOf(text, parseQuery(['a', '漢', 'é b', 'zzz'][random(4)]!))
    assert.ok(part.isWellFormed(), JSON.stringify(part))
    for (const [from, to] of marks) assert.ok(from >= 0 && from < to && to <= part.length)
  }
})

test('of a very long text only the part that can be found is looked at', () => {
  const long = `${'alpha beta '.repeat(1_000_000)}needle`
  assert.deepEqual(snippetOf(long, parseQuery('needle ')).marks, [])
  const { text, marks } = snippetOf(long, parseQuery('alpha '))
  assert.equal(text.slice(...marks[0]!), 'alpha')
  assert.ok(text.endsWith('…'))
})

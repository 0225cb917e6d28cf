import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Journal } from '../../../src/agents/host/journal.ts'

const dir = mkdtempSync(join(tmpdir(), 'corral-journal-'))
after(() => rmSync(dir, { recursive: true, force: true }))
let files = 0

function journalOf(content: string | Buffer, maxLine = 1024 * 1024): { journal: Journal; path: string } {
  const path = join(dir, `j${files++}`)
  writeFileSync(path, content)
  return { journal: new Journal(path, 0, maxLine), path }
}

function readAll(journal: Journal): (string | null)[] {
  const texts: (string | null)[] = []
  for (let page = journal.read(); page; page = journal.read())
    texts.push(...page.lines.map((line) => line.text))
  return texts
}

test('lines are split on LF alone: U+2028, U+2029 and CR stay inside', () => {
  const lines = ['{"a":"\u2028"}', '{"b":"\u2029\r"}', '']
  const { journal } = journalOf(lines.join('\n'))
  assert.deepEqual(readAll(journal), lines.slice(0, 2))
  journal.close()
})

test('a half line waits for its rest, and the offset stands before it', () => {
  const { journal, path } = journalOf('one\ntw')
  assert.deepEqual(readAll(journal), ['one'])
  assert.equal(journal.offset, 4)
  appendFileSync(path, 'o\nthree\n')
  assert.deepEqual(readAll(journal), ['two', 'three'])
  assert.equal(journal.offset, 14)
  journal.close()
})

test('characters of several bytes survive any chunk border', () => {
  const long = '€'.repeat(70_000)
  const { journal } = journalOf(`${long}\nx${long}\nxx${long}\n`)
  assert.deepEqual(readAll(journal), [long, `x${long}`, `xx${long}`])
  journal.close()
})

test('a line above the limit is passed over and the next one is read', () => {
  const { journal } = journalOf(`a\n${'b'.repeat(300_000)}\nc\n`, 100_000)
  assert.deepEqual(readAll(journal), ['a', null, 'c'])
  journal.close()
})

test('invalid UTF-8 does not disturb its neighbours', () => {
  const { journal } = journalOf(
    Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0xc3, 0x28, 10]), Buffer.from('b\n')]),
  )
  const texts = readAll(journal)
  assert.deepEqual([texts[0], texts[2]], ['a', 'b'])
  journal.close()
})

test('after emptying, reading goes on from the start', () => {
  const { journal, path } = journalOf('one\n')
  readAll(journal)
  journal.truncate()
  appendFileSync(path, 'two\n')
  assert.deepEqual(readAll(journal), ['two'])
  assert.equal(journal.offset, 4)
  journal.close()
})

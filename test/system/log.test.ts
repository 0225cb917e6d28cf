import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readLog } from '../../src/system/log-reader.ts'
import { openLogger } from '../../src/system/logger.ts'
import { until } from '../support/wait.ts'

function aLog(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'corral-log-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'corral.log')
}

async function last(path: string, count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLog(path, { last: count, until: null })) lines.push(line)
  return lines
}

/** Reads on in the background; `lines` grows. */
function following(t: TestContext, path: string, count = 0): { lines: string[]; end(): Promise<void> } {
  const ending = new AbortController()
  const lines: string[] = []
  const reading = (async () => {
    for await (const line of readLog(path, { last: count, until: ending.signal })) lines.push(line)
  })()
  const end = async (): Promise<void> => {
    ending.abort()
    await reading
  }
  t.after(end)
  return { lines, end }
}

const numberIn = (line: string): number => (JSON.parse(line) as { n: number }).n

test('the log is bounded: a few files, none much larger than allowed, and only the oldest lines go', async (t) => {
  const path = aLog(t)
  const logger = openLogger(path, { level: 'info', maxBytes: 2000, keep: 3 })
  for (let n = 0; n < 500; n++) logger.info({ n }, 'counted')
  logger.close()
  const names = readdirSync(join(path, '..')).toSorted()
  assert.deepEqual(names, ['corral.log', 'corral.log.1', 'corral.log.2', 'corral.log.3'])
  for (const name of names) {
    const { size, mode } = statSync(join(path, '..', name))
    assert.ok(size <= 2100, `${name} has ${size} bytes`)
    assert.equal(mode & 0o777, 0o600)
  }
  const numbers = (await last(path, 1000)).map(numberIn)
  assert.ok(numbers.length > 50)
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, index) => 500 - numbers.length + index),
  )
  assert.deepEqual((await last(path, 7)).map(numberIn), [493, 494, 495, 496, 497, 498, 499])
})

test('no older file is kept where none is wanted', (t) => {
  const path = aLog(t)
  const logger = openLogger(path, { level: 'info', maxBytes: 500, keep: 0 })
  for (let n = 0; n < 100; n++) logger.info({ n }, 'counted')
  logger.close()
  assert.deepEqual(readdirSync(join(path, '..')), ['corral.log'])
  assert.ok(statSync(path).size < 700)
})

test('who follows gets every line once, through many rotations', async (t) => {
  const path = aLog(t)
  const logger = openLogger(path, { level: 'info', maxBytes: 3000, keep: 3 })
  for (let n = 0; n < 5; n++) logger.info({ n }, 'before')
  const { lines } = following(t, path, 2)
  await until(() => lines.length === 2, 'the older lines')
  for (let n = 5; n < 400; n++) {
    logger.info({ n }, 'after')
    // Never further ahead than files are kept.
    if (n % 50 === 0) await until(() => lines.length === n - 2, `line ${n}`)
  }
  await until(
    () => lines.length === 397,
    () => `all lines; there are ${lines.length}`,
  )
  logger.close()
  assert.deepEqual(
    lines.map(numberIn),
    Array.from({ length: 397 }, (_, index) => index + 3),
  )
  assert.ok(existsSync(`${path}.3`))
})

test('two rotations between two looks are no gap', async (t) => {
  const path = aLog(t)
  writeFileSync(path, 'a\n')
  const { lines } = following(t, path, 1)
  await until(() => lines.length === 1, 'a')
  // All at once, for whoever looks from time to time.
  appendFileSync(path, 'b\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'c\n')
  renameSync(`${path}.1`, `${path}.2`)
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'd\n')
  await until(() => lines.at(-1) === 'd', 'd')
  assert.deepEqual(lines, ['a', 'b', 'c', 'd'])
})

test('a line that is half written is told when it is whole', async (t) => {
  const path = aLog(t)
  writeFileSync(path, 'one\ntw')
  assert.deepEqual(await last(path, 5), ['one'])
  const { lines } = following(t, path, 5)
  await until(() => lines.length === 1, 'the first line')
  appendFileSync(path, 'o\nthree\n')
  await until(() => lines.length === 3, 'the others')
  assert.deepEqual(lines, ['one', 'two', 'three'])
})

test('a log that is not there yet is waited for', async (t) => {
  const path = aLog(t)
  assert.deepEqual(await last(path, 5), [])
  const { lines } = following(t, path, 1)
  writeFileSync(path, 'first\n')
  await until(() => lines.length === 1, 'the line')
})

test('the end of a large file is read, not all of it', async (t) => {
  const path = aLog(t)
  const long = 'x'.repeat(50_000)
  writeFileSync(path, Array.from({ length: 100 }, (_, n) => `${n} ${long}\n`).join(''))
  const found = await last(path, 3)
  assert.deepEqual(
    found.map((line) => line.split(' ')[0]),
    ['97', '98', '99'],
  )
})

test('a file that another program has moved away is opened anew', async (t) => {
  const path = aLog(t)
  const logger = openLogger(path, { level: 'info', maxBytes: 1e6, keep: 3 })
  t.after(() => logger.close())
  logger.info({}, 'early')
  renameSync(path, `${path}.old`)
  await until(() => {
    logger.info({}, 'late')
    return existsSync(path)
  }, 'the log is back')
  assert.match(readFileSync(`${path}.old`, 'utf8'), /early/)
  assert.doesNotMatch(readFileSync(path, 'utf8'), /early/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import headless from '@xterm/headless'
import { NOTHING_SHOWN, painted, type Row, type Shown } from '../../../src/cli/attach/paint.ts'
import { randomly } from '../../support/random.ts'

/** A terminal of another house, that shows what was written. */
function terminal(columns: number, rows: number) {
  const emulator = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const line = (at: number): string =>
    emulator.buffer.active.getLine(at)?.translateToString(true).trimEnd() ?? ''
  return {
    write: (text: string) => new Promise<void>((resolve) => emulator.write(text, resolve)),
    screen: () => Array.from({ length: rows }, (_, at) => line(emulator.buffer.active.baseY + at)),
    all: () => Array.from({ length: emulator.buffer.active.length }, (_, at) => line(at)),
    cursor: () => [emulator.buffer.active.cursorX, emulator.buffer.active.cursorY],
  }
}

const HEIGHT = 8

test('whatever becomes of the rows, the screen ends with them', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const upTo = randomly(seed)
    const { write, screen, cursor, all } = terminal(20, HEIGHT)
    await write('$ corral attach\r\n')
    let shown: Shown = NOTHING_SHOWN
    const above: Row[] = []
    for (let frame = 0; frame < 30; frame++) {
      if (upTo(10) < 6)
        for (let n = upTo(5); n > 0; n--)
          above.push({ key: `k${above.length}`, text: `row ${above.length} of ${seed}` })
      const changed = above.length - 1 - upTo(4)
      if (above[changed] && upTo(2) === 0) above[changed] = { ...above[changed], text: `changed ${frame}` }
      const below = Array.from({ length: 1 + upTo(5) }, (_, at) => ({
        key: '',
        text: `below ${at} ${frame}`,
      }))
      const rows = [...above, ...below]
      const row = above.length + upTo(below.length)
      const next = painted(shown, rows, { row, column: upTo(10) }, HEIGHT)
      shown = next.shown
      await write(next.text)
      const seen = screen()
      const last = seen.findLastIndex((text) => text !== '')
      const tail = seen.slice(0, last + 1).filter((text) => !text.startsWith('$'))
      assert.deepEqual(
        tail,
        rows.slice(-tail.length).map(({ text }) => text),
        `seed ${seed}, frame ${frame}`,
      )
      assert.equal(seen[cursor()[1]!], rows[row]!.text, `the cursor; seed ${seed}, frame ${frame}`)
    }
    // Nobody's row is lost on its way out of the screen.
    assert.equal(all()[0], '$ corral attach')
    for (const { key } of above)
      assert.ok(all().some((text) => text.startsWith(`row ${key.slice(1)} `) || text.startsWith('changed')))
  }
})

test('what has not changed is not written again', () => {
  const rows = [1, 2, 3].map((n) => ({ key: `k${n}`, text: `row ${n}` }))
  const { shown } = painted(NOTHING_SHOWN, rows, { row: 2, column: 0 }, HEIGHT)
  const { text } = painted(shown, rows.with(1, { key: 'k2', text: 'other' }), { row: 2, column: 3 }, HEIGHT)
  assert.ok(text.includes('other') && !text.includes('row 1') && !text.includes('row 3'))
})

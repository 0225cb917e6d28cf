import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { paletteColour, plainOf, spansOf } from '../../web/parts/ansi.ts'
import { inert, inertLine } from '../../web/parts/inert.ts'

const ESC = '\u001b'
const look = (text: string) => spansOf(text).map((span) => [span.text, span.look])

describe("a terminal's output", () => {
  test('colours and weights become spans', () => {
    assert.deepEqual(look(`a${ESC}[1;31mred${ESC}[22m thin${ESC}[0m end`), [
      ['a', {}],
      ['red', { bold: true, fg: 1 }],
      [' thin', { fg: 1 }],
      [' end', {}],
    ])
    assert.deepEqual(look(`${ESC}[92;44mx${ESC}[39my${ESC}[49mz${ESC}[m!`), [
      ['x', { fg: 10, bg: 4 }],
      ['y', { bg: 4 }],
      ['z', {}],
      ['!', {}],
    ])
  })

  test('colours of 256, and of red, green and blue', () => {
    assert.deepEqual(look(`${ESC}[38;5;208ma${ESC}[48;2;1;20;255mb`), [
      ['a', { fg: 208 }],
      ['b', { fg: 208, bg: '#0114ff' }],
    ])
    for (const wrong of ['38;2;300;0;0', '38', '38;5', '38;2;1']) {
      assert.deepEqual(look(`${ESC}[${wrong}mx`), [['x', {}]], wrong)
    }
    assert.equal(paletteColour(208), '#ff8700')
    assert.equal(paletteColour(255), '#eeeeee')
    assert.equal(paletteColour(16), '#000000')
  })

  test('all other sequences vanish: titles, links, cursors, clipboards, those that are cut off', () => {
    const hostile = [
      `${ESC}]0;title\u0007`,
      `${ESC}]8;;http://evil${ESC}\\`,
      `${ESC}]52;c;ZXZpbA==\u0007`,
      `${ESC}[2J${ESC}[H`,
      `${ESC}P1$r0m${ESC}\\`,
      `${ESC}(B`,
      `${ESC}c`,
      '\u009b31m',
      '\u0007\u0000',
    ]
    for (const one of hostile) assert.equal(plainOf(`a${one}b`), 'ab', JSON.stringify(one))
    assert.equal(plainOf(`a${ESC}]0;never ended`), 'a')
    assert.equal(plainOf(`a${ESC}`), 'a')
    assert.equal(plainOf(`a${ESC}[31`), 'a')
  })

  test('a line that is written anew shows its last state', () => {
    assert.equal(plainOf('10 %\r50 %\r100 %\ndone\r\n'), '100 %\ndone\n')
    assert.equal(plainOf('abc\b\bX\n\b'), 'aX\n')
  })
})

describe('text that deceives', () => {
  test('direction overrides are shown by name', () => {
    assert.equal(inert('rm \u202egpj.exe'), 'rm ⟨U+202E⟩gpj.exe')
    assert.equal(inert('a\u2066b\u2069c\u200f'), 'a⟨U+2066⟩b⟨U+2069⟩c⟨U+200F⟩')
  })

  test('controls vanish, tabs and line feeds stay', () => {
    assert.equal(inert('a\u0000\u0008b\tc\nd\u009b\u007f'), 'ab\tc\nd')
    assert.equal(inertLine('  a\n\n b\t c '), 'a b c')
  })
})

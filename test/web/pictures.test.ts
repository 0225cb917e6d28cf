import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')

test('every picture that a page shows is there, and every picture is shown', () => {
  const pages = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const text = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n')
  const shown = [...text.matchAll(/pictures\/[\w-]+\.png/g)].map(([path]) => basename(path))
  assert.deepEqual([...new Set(shown)].toSorted(), readdirSync(join(ROOT, 'docs/pictures')).toSorted())
})

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildWeb } from '../../scripts/web.ts'

/** Scripts and styles that a browser loads before it shows anything, compressed. */
const LIMIT = 150_000

/** The paths of all that a page names, and of all that those scripts import at once. */
function loadedBy(directory: string): Set<string> {
  const page = readFileSync(join(directory, 'index.html'), 'utf8')
  const named = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path!)
  const loaded = new Set(named)
  for (const path of loaded) {
    if (!path.endsWith('.js')) continue
    const code = readFileSync(join(directory, path), 'utf8')
    // As the bundler writes it: `import{a as b}from"./x.js"` or `import"./x.js"`; `import("./x.js")` comes later.
    for (const [, other] of code.matchAll(/(?:\bfrom|\bimport)\s*"(\.[^"]+)"/g))
      loaded.add(join(dirname(path), other!))
  }
  return loaded
}

test('the first load of the dashboard is within its budget', async (t) => {
  const directory = join(mkdtempSync(join(tmpdir(), 'corral-web-')), 'web')
  t.after(() => rmSync(dirname(directory), { recursive: true }))
  const { scripts, styles } = await buildWeb(directory)
  const loaded = [...loadedBy(directory)]
  assert.ok(loaded.some((path) => path.endsWith('.css')) && loaded.some((path) => path.endsWith('.js')))
  const sizes = loaded.map(
    (path) => [path, gzipSync(readFileSync(join(directory, path)), { level: 9 }).length] as const,
  )
  const total = sizes.reduce((sum, [, size]) => sum + size, 0)
  assert.ok(
    total <= LIMIT,
    `${total} bytes instead of ${LIMIT}: ${JSON.stringify(Object.fromEntries(sizes))}`,
  )
  // What the build says about itself is no less.
  assert.ok(Math.abs(scripts + styles - total) < 1000, `${scripts} + ${styles} is not ${total}`)
})

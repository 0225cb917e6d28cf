import assert from 'node:assert/strict'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCheckout } from '../../src/door/web-checkout.ts'

const ROOT = join(import.meta.dirname, '../..')

test('a checkout builds its dashboard once, and anew when a source has changed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'corral-checkout-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const parts = ['web', 'src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']
  for (const part of parts) cpSync(join(ROOT, part), join(root, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const checkout = createCheckout(root)
  const pageOf = (directory: string): string => readFileSync(join(directory, 'index.html'), 'utf8')

  const [first, same] = await Promise.all([checkout.built(), checkout.built()])
  assert.equal(first, same)
  assert.equal(await checkout.built(), first)
  assert.ok(first.startsWith(join(root, '.cache/web')))

  appendFileSync(join(root, 'web/style/base.css'), 'b{color:red}')
  const second = await checkout.built()
  assert.notEqual(second, first)
  assert.notEqual(pageOf(second), pageOf(first), 'the page names other files')
  assert.ok(existsSync(first), 'a page that is open may still want the old ones')

  appendFileSync(join(root, 'src/core/mode.ts'), '\n// changed\n')
  assert.notEqual(await checkout.built(), second, 'what it takes from the daemon counts, too')

  appendFileSync(join(root, 'web/main.tsx'), '\nimport "node:fs"\n')
  await assert.rejects(checkout.built(), /node:fs/)
})

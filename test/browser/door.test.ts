import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { browserFor, daemonFor, live, nativeFor, originOf, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('a code of corral open signs in, once, and is gone from the address', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  assert.equal(page.url(), `${originOf(daemon)}/`)
  await page.reload()
  await live(page)
})

test('a token signs in; a wrong one is told so', options, async (t) => {
  const daemon = await daemonFor(t)
  const browser = await browserFor(t, daemon, { expectedErrors: /401/ })
  const page = await browser.page()
  await page.goto(`${originOf(daemon)}/inbox`)
  await page.getByLabel('Token').fill('0'.repeat(32))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This token is not valid').waitFor()
  await page.getByLabel('Token').fill(readFileSync(join(daemon.corralHome, 'token'), 'utf8'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await live(page)
  assert.equal(page.url(), `${originOf(daemon)}/inbox`)
  await until(async () => (await page.getByRole('heading', { level: 1 }).textContent()) === 'Inbox')
})

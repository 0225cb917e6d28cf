import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { corral } from '../cli/support.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import {
  browserFor,
  daemonFor,
  live,
  nativeFor,
  originOf,
  PHONE,
  quiet,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

/** The page asks for a token. */
async function signedOut(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in to Corral' }).waitFor()
}

async function enterToken(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token or PIN').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('a code of corral open signs in, once, and is gone from the address', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /401/ })
  const page = await browser.page()
  const { url } = await client.call('door.code')
  await visit(page, url)
  assert.equal(page.url(), `${originOf(daemon)}/`)
  await page.reload()
  await live(page)

  const other = await browserFor(t, daemon, { expectedErrors: /401/ })
  const late = await other.page()
  await late.goto(url)
  await late.getByText('Run corral open again').waitFor()
  assert.equal(late.url(), `${originOf(daemon)}/signin`)
})

test('a token signs in, where one wanted to go; a wrong one is told so', options, async (t) => {
  const daemon = await daemonFor(t)
  const browser = await browserFor(t, daemon, { expectedErrors: /401/ })
  const page = await browser.page()
  await page.goto(`${originOf(daemon)}/inbox`)
  await enterToken(page, '0'.repeat(32))
  await page.getByText('This token is not valid').waitFor()
  await enterToken(page, readFileSync(join(daemon.corralHome, 'token'), 'utf8'))
  await live(page)
  assert.equal(page.url(), `${originOf(daemon)}/inbox`)
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  const kept = await page.evaluate(() => [
    document.cookie,
    Object.keys(localStorage).find((key) => key === 'corral.key'),
  ])
  assert.deepEqual(kept, ['', 'corral.key'], 'no script sees the cookie')
})

test('who signs out is out in every tab', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const [page, other] = [await browser.page(), await browser.page()]
  await signIn(page, client)
  await visit(other, `${originOf(daemon)}/system`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await Promise.all([signedOut(page), signedOut(other)])
  await other.reload()
  await signedOut(other)
})

test(
  'a browser that came in with a PIN is a device, and out at once when it is removed',
  options,
  async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const browser = await browserFor(t, daemon, { viewport: PHONE, hasTouch: true, isMobile: true })
    const page = await browser.page()
    const { pin } = await client.call('device.pin')
    await page.goto(`${originOf(daemon)}/`)
    await enterToken(page, `${pin.slice(0, 3)} ${pin.slice(3)}`)
    await live(page)
    const { devices } = await client.call('device.list')
    assert.deepEqual(
      devices.map(({ name, platform }) => [name, platform]),
      [['Chrome on Linux', 'web']],
    )
    assert.equal((await corral(daemon.env, ['device', 'rm', devices[0]!.id])).code, 0)
    await signedOut(page)
  },
)

test('a new token of the owner signs everybody out who had the old one', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  assert.equal((await corral(daemon.env, ['token', 'new'])).code, 0)
  await signedOut(page)
})

test('a daemon that goes away is said to be away, and live again when it is back', options, async (t) => {
  const daemon = await daemonFor(t, { env: { CORRAL_PORT: String(await freePort()) } })
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /net::ERR_/ })
  const page = await browser.page()
  await signIn(page, client)
  await daemon.kill9()
  await page.getByText('Connection lost. What you see').waitFor()
  await daemon.restart()
  await live(page)
  await page.getByText('Connection lost. What you see').waitFor({ state: 'hidden' })
})

test('every page is reached by its link, and by the way back', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  await page.evaluate(() => document.body.setAttribute('data-once', ''))
  for (const name of ['Inbox', 'Search', 'Relay', 'System', 'Devices', 'Settings', 'Now']) {
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await until(async () => (await page.title()) === `${name} · Corral`)
  }
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  assert.equal(await page.locator('[data-once]').count(), 1, 'the dashboard is loaded once')
  await page.goto(`${originOf(daemon)}/devices`)
  await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor()
})

test('a phone has tabs, and the rest behind More', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { viewport: PHONE, hasTouch: true, isMobile: true })
  const page = await browser.page()
  await signIn(page, client)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Settings' }).click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await quiet(page)
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('a, button')]
      .map((one) => one.getBoundingClientRect())
      .filter(({ width, height, top }) => width > 1 && top >= 0 && (height < 44 || width < 44)),
  )
  assert.deepEqual(small, [], 'every target has 44 pixels')
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  assert.equal(wide, false)
})

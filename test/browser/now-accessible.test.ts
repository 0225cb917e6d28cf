import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { asking, ended, untilIn } from './asking.ts'
import { newSession } from './opened.ts'
import {
  accessible,
  answerable,
  browserFor,
  daemonFor,
  DESK,
  nativeFor,
  originOf,
  PHONE,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

/** What would have to be scrolled sideways. */
async function fits(page: Page): Promise<void> {
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  assert.ok(wide! <= screen!, `${page.url()} is ${wide} wide on a screen of ${screen}`)
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `Now, Inbox and what stands in front of them can be used by everybody, ${colorScheme}`,
    options,
    async (t) => {
      const daemon = await daemonFor(t)
      const client = await nativeFor(t, daemon)
      const { approvalId } = await asking(client, daemon, { title: 'Asks', command: 'make it' })
      const put = await asking(client, daemon, { title: 'Put off', command: 'make it later' })
      await client.call('approval.defer', { approvalId: put.approvalId, until: Date.now() + 3_600_000 })
      await ended(client, daemon, 'Ended')
      const page = await (await browserFor(t, daemon, { colorScheme })).page()
      await signIn(page, client)
      const origin = originOf(daemon)
      for (const viewport of [DESK, PHONE]) {
        await page.setViewportSize(viewport)
        await visit(page, origin)
        await untilIn(page, 'Needs you', ['Asks'])
        await page.keyboard.press('j')
        await page.keyboard.press('Space')
        await page.locator('.peek [data-answer="2"]:not([aria-disabled="true"])').waitFor()
        await page.getByRole('checkbox', { name: 'Select Ended' }).focus()
        await page.keyboard.press('Space')
        await page.getByText('1 selected').waitFor()
        await look(page)
        await page.keyboard.press('?')
        await page.locator('.key-help').waitFor()
        await look(page)
        await visit(page, `${origin}/inbox`)
        await answerable(page.getByRole('article'))
        await page.locator('.deferred > summary').click()
        await look(page)
        await page.keyboard.press('Control+k')
        await page.getByRole('option').first().waitFor()
        await look(page)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page.keyboard.press('n')
        await newSession(page)
        await look(page)
      }
      await client.call('approval.decide', { approvalId, behavior: 'allow', forSession: true })
      await page.setViewportSize(DESK)
      await visit(page, `${origin}/inbox`)
      await page.getByRole('button', { name: 'History' }).click()
      await page.getByText('Rule for the session').waitFor()
      await look(page)
      await visit(page, origin)
      await page.getByRole('button', { name: 'Board' }).click()
      await page.locator('.board-card').first().waitFor()
      await look(page)

      async function look(at: Page): Promise<void> {
        await fits(at)
        await accessible(at)
      }
    },
  )
}

test('enlarged to twice the size, nothing is cut off', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  await asking(client, daemon, { title: 'Asks', command: `echo ${'long '.repeat(40)}` })
  await ended(client, daemon, 'Ended')
  // A window of 1280 by 800, at 200 %.
  const page = await (await browserFor(t, daemon, { viewport: { width: 640, height: 400 } })).page()
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks'])
  await fits(page)
  await visit(page, `${originOf(daemon)}/inbox`)
  await answerable(page.getByRole('article'))
  await fits(page)
  await page.keyboard.press('n')
  await newSession(page)
  await fits(page)
})

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { demoSession, ended, fillLog, openPage, scrollTop, topOf } from './session-support.ts'
import { browserFor, daemonFor, live, nativeFor, originOf, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

interface Stage {
  daemon: TestDaemon
  client: NativeClient
  page: Page
  id: string
}

/** A page with a session of so many turns. */
async function stageFor(t: TestContext, turns: number): Promise<Stage> {
  const daemon = await daemonFor(t)
  const { id } = await demoSession(await nativeFor(t, daemon), daemon)
  await daemon.terminate()
  await fillLog(daemon, id, turns)
  await daemon.restart()
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  await openPage(page, daemon, id)
  await until(async () => (await topOf(page, `Answer ${turns - 1}`)) !== null, 'the newest answer is there')
  return { daemon, client, page, id }
}

async function wheel(page: Page, by: number): Promise<void> {
  await page.locator('.timeline-scroller').hover()
  await page.mouse.wheel(0, by)
}

/** Nothing moves for some frames. */
async function settled(page: Page): Promise<number> {
  let [last, same] = [-1, 0]
  await until(async () => {
    const now = await scrollTop(page)
    same = now === last ? same + 1 : 0
    last = now
    return same >= 5
  }, 'the list stands still')
  return last
}

/** The first row that is seen whole, and where. */
function firstRow(page: Page): Promise<{ text: string; top: number }> {
  return page.evaluate(() => {
    const edge = document.querySelector('.timeline-scroller')!.getBoundingClientRect().top
    const rows = [...document.querySelectorAll('.entry')]
    const row = rows.find((one) => one.getBoundingClientRect().top >= edge)!
    return { text: row.textContent!, top: row.getBoundingClientRect().top }
  })
}

test('a reader who has scrolled up is moved by 0 pixels, whatever comes below', options, async (t) => {
  const { client, page, id } = await stageFor(t, 60)
  const sent = await client.call('session.send', { sessionId: id, content: '[[drip 400 10]]' })
  await page.locator('.entry-said[data-open]').waitFor()
  await wheel(page, -700)
  await settled(page)
  const before = await firstRow(page)
  const top = await scrollTop(page)
  const moves = await page.evaluate((start) => {
    const scroller = document.querySelector('.timeline-scroller')!
    const seen: number[] = []
    const look = (): void => {
      if (scroller.scrollTop !== start) seen.push(scroller.scrollTop)
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
    return (((window as unknown as { moves: number[] }).moves = seen), seen.length)
  }, top)
  assert.equal(moves, 0)
  await ended(client, sent.turnId)
  await client.call('session.send', { sessionId: id, content: 'and another' })
  await until(
    async () => (await page.locator('.timeline-latest').textContent())?.includes('new'),
    'new rows are counted',
  )
  assert.deepEqual(await page.evaluate(() => (window as unknown as { moves: number[] }).moves), [])
  assert.deepEqual(await firstRow(page), before)
  await page.locator('.timeline-latest').click()
  await until(async () => (await topOf(page, 'echo: and another')) !== null, 'the latest is there')
  await page.locator('.timeline-latest').waitFor({ state: 'detached' })
})

test('at the end it stays at the end, and a wheel upwards ends that at once', options, async (t) => {
  const { client, page, id } = await stageFor(t, 30)
  const sent = await client.call('session.send', { sessionId: id, content: '[[drip 300 10]]' })
  const isAtEnd = (): Promise<boolean> =>
    page
      .locator('.timeline-scroller')
      .evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop < 4)
  await page.locator('.entry-said[data-open]').waitFor()
  for (let words = 50; words <= 150; words += 50) {
    await until(
      async () =>
        ((await page.locator('.entry-said[data-open]').textContent()) ?? '').split(' ').length > words,
    )
    assert.ok(await isAtEnd(), `at the end with ${words} words`)
  }
  await wheel(page, -120)
  await until(async () => !(await isAtEnd()), 'the reader has left the end')
  const top = await settled(page)
  await ended(client, sent.turnId)
  await until(async () => (await page.locator('.entry-said[data-open]').count()) === 0)
  assert.equal(await scrollTop(page), top)
})

test('older parts are put in front without moving what is read', options, async (t) => {
  const { page } = await stageFor(t, 400)
  for (let part = 0; part < 4; part++) {
    await wheel(page, -2500)
    await settled(page)
  }
  const before = await firstRow(page)
  await until(
    async () => (await page.locator('.timeline-scroller').evaluate((one) => one.scrollHeight)) > 10_000,
  )
  assert.deepEqual(await firstRow(page), before)
  await page.locator('.timeline-scroller').focus()
  for (let steps = 0; (await topOf(page, 'Question 0')) === null; steps++) {
    assert.ok(steps < 100, 'the beginning is reached')
    await page.keyboard.press('Home')
    await settled(page)
  }
  assert.equal((await page.locator('.entry').first().textContent())?.includes('Question 0'), true)
})

test(
  'a session of 5,000 messages opens at its end, with few rows on the page, and is found in',
  options,
  async (t) => {
    const { page, daemon, id } = await stageFor(t, 2500)
    assert.ok((await page.locator('.entry').count()) < 80, 'only what is near the window is there')
    await page.keyboard.press('Control+f')
    await page.getByRole('textbox', { name: 'Find in this session' }).fill('"Question 77"')
    await page.getByText('1 found').waitFor()
    await page.keyboard.press('Enter')
    await until(async () => {
      const top = await topOf(page, 'Answer 77')
      return top !== null && top > 0 && top < 900
    }, 'the place is in sight')
    await page.locator('.entry[data-found]').waitFor()
    await page.goto(`${originOf(daemon)}/`)
    await live(page)
    await openPage(page, daemon, id)
    await until(async () => (await topOf(page, 'Answer 2499')) === null, 'the reader is where they were')
  },
)

test('the place in a session is remembered', options, async (t) => {
  const { page, client, daemon } = await stageFor(t, 60)
  const other = await demoSession(client, daemon)
  await wheel(page, -1500)
  await settled(page)
  const before = await firstRow(page)
  const address = page.url()
  await page.evaluate((id) => {
    history.pushState(null, '', `/s/${id}`)
    dispatchEvent(new PopStateEvent('popstate'))
  }, other.id)
  await page.getByText('Nothing said yet').first().waitFor()
  await page.goBack()
  await until(
    async () => page.url() === address && (await topOf(page, before.text)) !== null,
    'the page is back',
  )
  await settled(page)
  assert.deepEqual(await firstRow(page), before)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { untilIn } from './asking.ts'
import { browserFor, daemonFor, nativeFor, PHONE, signIn, withoutBrowser } from './support.ts'
import { swipe } from './touch.ts'

const options = { skip: withoutBrowser }
const MANY = 1000

test(
  'a thousand sessions: all can be reached, few are drawn, and each change is seen',
  options,
  async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const cwd = daemon.project
    await Promise.all(
      Array.from({ length: MANY }, (_, at) =>
        client.call('session.create', {
          agent: 'demo',
          cwd,
          title: `Session ${String(at).padStart(4, '0')}`,
        }),
      ),
    )
    const page = await (await browserFor(t, daemon)).page()
    await signIn(page, client)
    await page.getByRole('button', { name: `Quiet ${MANY}` }).waitFor()
    const drawn = (): Promise<string[]> => page.locator('.session-row-name').allTextContents()
    await until(async () => (await drawn()).length > 10, 'rows are drawn')
    const seen = new Set<string>()
    for (let goesOn = true; goesOn; goesOn = await scrolledOn(page)) {
      await until(() => isFilled(page), 'the screen is filled with rows')
      const names = await drawn()
      assert.ok(names.length < 100, 'only those near the screen are drawn')
      for (const name of names) seen.add(name)
    }
    assert.equal(seen.size, MANY)
    const [last] = (await drawn()).slice(-1)
    await page.locator('.session-row-title').last().focus()
    await page.keyboard.press('k')
    await page.keyboard.press('p')
    await until(
      async () =>
        (await client.call('session.list', { limit: 500 })).sessions.length === 500 && (await pinned()) === 1,
      'the row at the cursor is pinned',
    )
    assert.ok(last)

    async function pinned(): Promise<number> {
      await page.evaluate(() => document.getElementById('main')!.scrollTo(0, 0))
      return page.getByRole('img', { name: 'Pinned' }).count()
    }
  },
)

/** Rows are drawn from the upper to the lower edge of the screen, or to the end of the list. */
function isFilled(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const main = document.getElementById('main')!.getBoundingClientRect()
    const list = document.querySelector('.virtual-list')!.getBoundingClientRect()
    const lines = [...document.querySelectorAll('.virtual-list-line')].map((one) =>
      one.getBoundingClientRect(),
    )
    const [top, bottom] = [Math.max(main.top, list.top), Math.min(main.bottom, list.bottom)]
    const isAt = (y: number): boolean => lines.some((line) => line.top <= y && line.bottom >= y)
    return isAt(top + 1) && isAt((top + bottom) / 2) && isAt(bottom - 1)
  })
}

/** False: it was at its end. */
function scrolledOn(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const main = document.getElementById('main')!
    const before = main.scrollTop
    main.scrollBy(0, 700)
    return main.scrollTop > before
  })
}

test('on a phone: a finger marks as done and snoozes, and a menu does the same', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  for (const title of ['One', 'Two', 'Three']) {
    const { id } = await client.call('session.create', { agent: 'demo', cwd: daemon.project, title })
    await client.call('session.send', { sessionId: id, content: 'hello' })
    await until(async () => (await client.call('session.get', { sessionId: id })).lastOutcome !== null)
  }
  const page = await (await browserFor(t, daemon, { viewport: PHONE, hasTouch: true, isMobile: true })).page()
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Three', 'Two', 'One'])
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.equal(wide, PHONE.width, 'nothing is wider than the screen')
  const row = (title: string) => page.locator('.session-row', { hasText: title })
  await swipe(row('Three'), 180)
  await untilIn(page, 'Done since you looked', ['Two', 'One'])
  await swipe(row('Two'), -180)
  await untilIn(page, 'Snoozed', ['Two'])
  await swipe(row('One'), 40)
  await untilIn(page, 'Done since you looked', ['One'])
  await page.getByRole('button', { name: 'More for One' }).tap()
  const item = page.getByRole('menuitem', { name: 'Mark as done' })
  const box = await item.boundingBox()
  assert.ok(box!.height >= 44, 'a finger hits it')
  await item.tap()
  await untilIn(page, 'Done since you looked', [])
  assert.equal(new URL(page.url()).pathname, '/', 'a swipe opens nothing')
})

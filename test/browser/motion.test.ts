import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { demoSession, openPage } from './session-support.ts'
import { opened } from './opened.ts'
import { withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** The longest that anything below an element moves by itself, in milliseconds; endless is endless. */
function motionIn(page: Page, selector: string): Promise<number> {
  return page.evaluate((wanted) => {
    const roots = [...document.querySelectorAll(wanted)]
    const all = roots.flatMap((root) => [root, ...root.querySelectorAll('*')])
    const ms = (times: string): number =>
      Math.max(...times.split(', ').map((time) => parseFloat(time) * (time.endsWith('ms') ? 1 : 1000)))
    const lasting = all.flatMap((element) =>
      [null, '::before', '::after', '::backdrop'].map((part) => {
        const style = getComputedStyle(element, part)
        const rounds = style.animationIterationCount === 'infinite' ? Infinity : 1
        const animated = style.animationName === 'none' ? 0 : ms(style.animationDuration) * rounds
        return Math.max(animated, ms(style.transitionDuration))
      }),
    )
    return Math.max(0, ...lasting)
  }, selector)
}

for (const reducedMotion of ['reduce', 'no-preference'] as const)
  test(`a spinner, a dialog and a list of sessions, with ${reducedMotion}`, options, async (t) => {
    const { daemon, client, page, go } = await opened(t, { reducedMotion })
    const { id: sessionId } = await demoSession(client, daemon)
    await client.call('session.send', { sessionId, content: '[[call Task eyJwcm9tcHQiOiJbW2hhbmddXSJ9]]' })
    const isStill = reducedMotion === 'reduce'
    const check = async (selector: string): Promise<void> => {
      const motion = await motionIn(page, selector)
      if (isStill) assert.ok(motion < 1, `${selector} moves for ${motion} ms`)
      else assert.ok(motion > 50, `${selector} moves, or nothing is tried here: ${motion} ms`)
    }
    await openPage(page, daemon, sessionId)
    await page.locator('.spinner').first().waitFor()
    await check('.spinner')
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await check('dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await go('/')
    await until(async () => (await page.locator('.session-row-working').count()) === 1, 'it works')
    await check('.session-row-working')
    await check('body')
  })

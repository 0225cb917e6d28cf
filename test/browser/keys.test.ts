import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { asking, decided, untilIn } from './asking.ts'
import { opened } from './opened.ts'
import { withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** The line of a list that has the focus begins with this. */
function focused(page: Page, line: string, title: string): Promise<unknown> {
  return until(
    () =>
      page.evaluate(
        ([where, text]) => document.activeElement?.closest(where!)?.textContent.startsWith(text!) ?? false,
        [line, title],
      ),
    () => `${title} has the focus`,
  )
}

test(
  'keys go forth and back, open a session, and edit what is asked, in Now and in the Inbox',
  options,
  async (t) => {
    const { client, daemon, page, go } = await opened(t)
    const first = await asking(client, daemon, { title: 'First', command: 'make one' })
    const second = await asking(client, daemon, { title: 'Second', command: 'make two' })
    await go('/')
    await untilIn(page, 'Needs you', ['First', 'Second'])
    for (const [key, title] of [
      ['j', 'First'],
      ['j', 'Second'],
      ['k', 'First'],
    ] as const) {
      await page.keyboard.press(key)
      await focused(page, '.session-row-title', title)
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/s/${first.sessionId}`)
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('article').nth(1).waitFor()
    for (const [key, title] of [
      ['j', 'First'],
      ['j', 'Second'],
      ['k', 'First'],
    ] as const) {
      await page.keyboard.press(key)
      await focused(page, '.inbox-item', title)
    }
    await page.keyboard.press('5')
    const field = page.getByRole('article').first().getByRole('textbox')
    await until(() => field.evaluate((it) => it === document.activeElement), 'one can type at once')
    await field.fill('make one --dry-run')
    await page.keyboard.press('Control+Enter')
    assert.deepEqual(await decided(client, first.approvalId), {
      behavior: 'allow',
      input: { command: 'make one --dry-run' },
      by: 'dashboard',
    })
    await focused(page, '.inbox-item', 'Second')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/s/${second.sessionId}`)
  },
)

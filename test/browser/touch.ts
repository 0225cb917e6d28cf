import type { Locator } from 'playwright-core'
import { quiet } from './support.ts'

/** A finger on it, moved sideways, slowly: what it leaves behind must not fling the page. `during` sees it before it lets go. */
export async function swipe(target: Locator, by: number, during?: () => Promise<unknown>): Promise<void> {
  const page = target.page()
  await quiet(page)
  const { x, y, width, height } = (await target.boundingBox())!
  const cdp = await page.context().newCDPSession(page)
  const [startX, atY] = [x + width / 2, y + height / 2]
  const began = Date.now() / 1000
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at: number | null, step: number) =>
    cdp.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: at === null ? [] : [{ x: at, y: atY }],
      timestamp: began + step / 5,
    })
  await touch('touchStart', startX, 0)
  for (let step = 1; step <= 6; step++) await touch('touchMove', startX + (by * step) / 6, step)
  await touch('touchMove', startX + by, 9)
  await during?.()
  await touch('touchEnd', null, 12)
  await cdp.detach()
}

/*
 * Runs in a page before anything of the page does, and says when something could be seen, how long frames took, and whether
 * what somebody reads has moved.
 */
globalThis.probe = (() => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  /** A task after the next frame: that frame has been handed over to be shown. */
  const shown = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.addEventListener('message', () => resolve(performance.now()))
        port1.start()
        port2.postMessage(null)
      }),
    )

  /** The innermost element with this text. */
  function elementWith(text) {
    const root = document.querySelector('main') ?? document.body
    if (!root?.textContent.includes(text)) return null
    let found = root
    for (let next = found; next; next = [...found.children].findLast((one) => one.textContent.includes(text)))
      found = next
    return found
  }

  function isInView(element) {
    const { top, bottom } = element.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  }

  const PATIENCE_MS = 60_000

  /** When this text was first on the screen, in ms since the navigation began. */
  async function painted(text) {
    const from = performance.now()
    while (performance.now() - from < PATIENCE_MS) {
      const element = document.body && elementWith(text)
      if (element && isInView(element)) return shown()
      await frame()
    }
    throw new Error(`not on the screen after a minute: ${text}`)
  }

  /** Clicks a link of the page; how long until the text is on the screen. */
  async function opened(selector, text) {
    const from = performance.now()
    document.querySelector(selector).click()
    return (await painted(text)) - from
  }

  const long = []
  try {
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) long.push({ startTime, duration })
    }).observe({ type: 'long-animation-frame' })
  } catch {
    // An older browser: the frames are counted all the same.
  }

  let watching = null

  /** From here on every frame is looked at. */
  function watch() {
    const watched = (watching = {
      from: performance.now(),
      gaps: [],
      anchor: null,
      top: 0,
      moved: 0,
      onFrame: null,
    })
    let last = performance.now()
    const look = (now) => {
      if (watching !== watched) return
      watched.gaps.push(now - last)
      last = now
      watched.onFrame?.()
      requestAnimationFrame(look)
    }
    requestAnimationFrame((now) => {
      last = now
      requestAnimationFrame(look)
    })
  }

  /** What the frames since `watch` were like. The first ones belong to whatever was before. */
  function seen() {
    const { from, gaps, moved } = watching
    watching = null
    const sorted = gaps.slice(2).sort((a, b) => a - b)
    const late = long.filter(({ startTime }) => startTime >= from).map(({ duration }) => duration)
    return {
      frames: sorted.length,
      longest: sorted.at(-1) ?? 0,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      late: late.length,
      longestLate: Math.max(0, ...late),
      moved,
    }
  }

  /** The element that scrolls: the one with the most that is out of sight. */
  function scroller() {
    const all = [document.scrollingElement, ...document.querySelectorAll('main, main *')]
    const hidden = (element) => element.scrollHeight - element.clientHeight
    const scrolls = (element) =>
      element === document.scrollingElement || /auto|scroll/.test(getComputedStyle(element).overflowY)
    return all.filter(scrolls).sort((a, b) => hidden(b) - hidden(a))[0]
  }

  /** Remembers what somebody reads in the middle of the screen, and looks in every frame whether it has moved. */
  function hold() {
    const { left, top, width, height } = scroller().getBoundingClientRect()
    const middle = Math.max(top, 0) + Math.min(height, innerHeight) * 0.4
    const anchor = document.elementFromPoint(left + width / 2, middle)
    const before = anchor.getBoundingClientRect().top
    watching.onFrame = () => {
      const now = anchor.isConnected ? anchor.getBoundingClientRect().top : Number.POSITIVE_INFINITY
      watching.moved = Math.max(watching.moved, Math.abs(now - before))
    }
    return anchor.textContent.slice(0, 60)
  }

  /** Goes through all that scrolls, a step in each frame, and back. */
  async function through(step) {
    const element = scroller()
    let steps = 0
    for (const by of [step, -step]) {
      for (;;) {
        const before = element.scrollTop
        element.scrollTop += by
        steps++
        await frame()
        if (element.scrollTop === before) break
      }
    }
    return { steps, height: element.scrollHeight }
  }

  return { painted, opened, watch, seen, scroller, hold, through }
})()

import type { Page } from 'playwright-core'

/* What may be in a page that shows what agents have said. */

/** Elements of pages of ours; everything else came in by what somebody said. */
const ELEMENTS = [
  'a abbr article aside b blockquote br button canvas caption code col colgroup dd del details dialog div dl dt em fieldset figcaption',
  'figure footer form h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label legend li main mark menu meter nav ol optgroup',
  'option output p path pre progress s samp section select small span strong sub summary sup svg symbol table tbody td textarea',
  'tfoot th thead time tr u ul use var wbr circle line polyline polygon rect g title search hgroup datalist',
].flatMap((line) => line.split(' '))

/** The elements of messages, which are Markdown: nothing to fill in, nothing that loads. */
const IN_MESSAGES = [
  'a b blockquote br button code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img input kbd li mark ol p pre s section small span',
  'strong sub sup svg table tbody td th thead tr ul use details summary',
].flatMap((line) => line.split(' '))

/** Where the words of agents are drawn. */
const MESSAGES = '.md'

/** Characters that turn text around, and controls: they have a name in the page, or are not there. */
const UNSEEN =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]'

/** Everything in the page that should not be there. */
export function intruders(page: Page): Promise<string[]> {
  const allowed = { elements: ELEMENTS, inMessages: IN_MESSAGES, messages: MESSAGES, unseen: UNSEEN }
  return page.evaluate(findIntruders, allowed)
}

interface Allowed {
  elements: string[]
  inMessages: string[]
  messages: string
  unseen: string
}

function findIntruders({ elements, inMessages, messages, unseen }: Allowed): string[] {
  const found: string[] = []
  const note = (element: Element, why: string): void =>
    void found.push(`${why}: ${element.outerHTML.slice(0, 160)}`)

  function isSafeLink(link: Element): boolean {
    const href = link.getAttribute('href') ?? ''
    const { protocol, origin } = new URL(href, location.href)
    if (origin === location.origin) return /^[/?#]/.test(href)
    const rel = link.getAttribute('rel') ?? ''
    const isApart = link.getAttribute('target') === '_blank' && /noopener/.test(rel) && /noreferrer/.test(rel)
    return ['http:', 'https:', 'mailto:'].includes(protocol) && isApart
  }

  function isSafeSource(src: string): boolean {
    const { protocol, origin } = new URL(src, location.href)
    return protocol === 'blob:' || origin === location.origin || /^data:image\/(?!svg)/.test(src)
  }

  function look(element: Element): void {
    const name = element.localName
    const inMessage = element.closest(messages) !== null
    if (!(inMessage ? inMessages : elements).includes(name)) note(element, 'element')
    for (const attribute of element.getAttributeNames()) {
      if (/^on|^(srcdoc|formaction|action|ping|background|srcset|poster|xlink:href|is)$/.test(attribute))
        note(element, `attribute ${attribute}`)
    }
    if (name === 'a' && element.hasAttribute('href') && !isSafeLink(element)) note(element, 'link')
    if (element.hasAttribute('src') && !isSafeSource(element.getAttribute('src')!)) note(element, 'source')
    if (inMessage && /url\(|fixed|absolute/.test(element.getAttribute('style') ?? '')) note(element, 'style')
    if (element.shadowRoot) note(element, 'shadow root')
  }

  // What `unseen` is about: a mark that turns text around, or a control; and what nobody sees but hears.
  function words(): string[] {
    const labels = [...document.querySelectorAll('[aria-label], [title]')].flatMap((element) => [
      element.getAttribute('aria-label') ?? '',
      element.getAttribute('title') ?? '',
    ])
    return [document.title, document.body.textContent, ...labels]
  }

  for (const element of document.body.querySelectorAll('*'))
    if (element.localName !== 'noscript') look(element)
  for (const text of words()) {
    const at = text.search(new RegExp(unseen))
    if (at >= 0) found.push(`not seen: ${JSON.stringify(text.slice(Math.max(0, at - 40), at + 40))}`)
  }
  for (const element of document.querySelectorAll(
    'body script, body link, base, body meta, style, body noscript:not(body > *)',
  ))
    note(element, 'head')
  return found
}

/**
 * Opens what is folded, on the screen and around it, each once; false: there is nothing more. Of the sessions of a list one is open at
 * a time: they are opened one after the other.
 */
export function unfold(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const known = ((globalThis as { unfolded?: WeakSet<Element> }).unfolded ??= new WeakSet<Element>())
    const folded = [
      ...document.querySelectorAll<HTMLElement>('main button[aria-expanded="false"]:not([aria-haspopup])'),
      ...document.querySelectorAll<HTMLElement>('main details:not([open]) > summary'),
    ].filter((one) => !known.has(one))
    const isAlone = (one: HTMLElement): boolean => one.closest('.session-row') !== null
    const chosen = [...folded.filter((one) => !isAlone(one)), ...folded.filter(isAlone).slice(0, 1)]
    for (const one of chosen) {
      known.add(one)
      one.click()
    }
    return chosen.length > 0
  })
}

/** Goes one screen further down in whatever scrolls most; false: it was at its end. */
export function scrollOn(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const hidden = (element: Element): number => element.scrollHeight - element.clientHeight
    const all = [document.scrollingElement!, ...document.querySelectorAll('main, main *')]
    const scrolls = (element: Element): boolean =>
      element === document.scrollingElement || /auto|scroll/.test(getComputedStyle(element).overflowY)
    const [scroller] = all.filter(scrolls).toSorted((a, b) => hidden(b) - hidden(a))
    const before = scroller!.scrollTop
    scroller!.scrollTop += scroller!.clientHeight * 0.8
    return scroller!.scrollTop > before
  })
}

/** To the beginning of whatever scrolls most. */
export function scrollUp(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const element of [document.scrollingElement!, ...document.querySelectorAll('main, main *')])
      if (element.scrollTop > 0) element.scrollTop = 0
  })
}

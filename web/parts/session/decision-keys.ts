import { pressAnswer, useKeys } from '../use-keys.ts'

/** The number keys answer the decision that has the focus, or the only one that is in sight. */
export function useDecisionKeys(): void {
  useKeys('decision', {
    answer1: () => answer(1),
    answer2: () => answer(2),
    answer3: () => answer(3),
    answer4: () => answer(4),
    answer5: () => answer(5),
  })
}

/** Nobody answers what they have not seen: the first press goes to the oldest question. */
function answer(number: number): boolean {
  const all = [...document.querySelectorAll<HTMLElement>('.conversation [data-approval]')]
  const focused = all.find((card) => card.contains(document.activeElement))
  const meant = focused ?? (all.length === 1 && isInSight(all[0]!) ? all[0] : undefined)
  if (meant) return pressAnswer(meant, number)
  all[0]?.scrollIntoView({ block: 'center' })
  all[0]?.focus({ preventScroll: true })
  return all.length > 0
}

/** What is asked, and an answer to it. */
function isInSight(card: HTMLElement): boolean {
  const scroller = card.closest('[role="log"]')?.getBoundingClientRect()
  const answer = card.querySelector('[data-answer]')?.getBoundingClientRect()
  if (!scroller || !answer) return false
  return card.getBoundingClientRect().top >= scroller.top - 1 && answer.bottom <= scroller.bottom + 1
}

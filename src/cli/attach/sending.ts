import type { Content } from '../../core/content.ts'
import { EMPTY, inserted } from './editor.ts'
import { remembered } from './recall.ts'
import { stay, type Image, type State, type Step } from './state.ts'

/** The sign of a picture in a text. Without it, the picture does not go along. */
export function imageSign({ name }: Pick<Image, 'name'>): string {
  return `[image ${name}]`
}

/** A picture goes with the next message. One of the same name takes its place. */
export function withImage(state: State, image: Image): State {
  const images = [...state.images.filter(({ name }) => name !== image.name), image]
  return { ...state, images, draft: inserted(state.draft, `${imageSign(image)} `) }
}

/** A message is on its way, with the pictures that it speaks of. */
export function sending(state: State, text: string): Step {
  const key = `${state.nonce}:${state.sent}`
  const images = state.images.filter((image) => text.includes(imageSign(image)))
  const parts: Content[] = images.map(({ mediaType, data }) => ({ type: 'image', mediaType, data }))
  const content = parts.length === 0 ? text : [{ type: 'text' as const, text }, ...parts]
  const next = { ...state, images: [], sent: state.sent + 1, outgoing: [...state.outgoing, { key, text }] }
  return stay(next, { do: 'send', key, text, content })
}

/** The input is empty again; what was in it can be called back. */
export function putAway(state: State, text: string): State {
  const draft = { ...EMPTY, killed: state.draft.killed }
  return { ...state, draft, menu: null, typedAt: 0, recall: remembered(state.recall, text) }
}

/** A piece of what the user says; `data` is base64. */
export type Content =
  | { type: 'text'; text: string }
  | { type: 'image'; mediaType: string; data: string }
  | { type: 'document'; mediaType: 'application/pdf'; data: string }

/** Pictures that agents can see, and that a browser shows without running anything: SVG is not among them. */
export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

export function isPictureType(type: string): boolean {
  return PICTURE_TYPES.some((one) => one === type)
}

export type Picture = Extract<Content, { type: 'image' }>

/** As much as the services of models take in one request; what is attached counts in base64. */
export const MAX_CONTENT = 32 * 1024 ** 2

export function sizeOf(content: readonly Content[]): number {
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text : part.data).length, 0)
}

export function textOf(content: readonly Content[]): string {
  return content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n')
}

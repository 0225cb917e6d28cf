/** A piece of what the user says. */
export type Content = { type: 'text'; text: string } | { type: 'image'; mediaType: string; data: string } // base64

export function textOf(content: readonly Content[]): string {
  return content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n')
}

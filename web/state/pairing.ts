/** Six digits in two groups: that is how people read them. */
export function spacedPin(pin: string): string {
  return pin.length === 6 ? `${pin.slice(0, 3)} ${pin.slice(3)}` : pin
}

/** `2:05`, for what is about to end. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** A picture that the daemon has drawn, as the address of an image: nothing in it can run. */
export function svgImage(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

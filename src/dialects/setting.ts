import { z } from 'zod'

/** Schemas that several settings share. */
export function whole(min: number, max: number) {
  return z.int().min(min).max(max)
}

export const port = whole(0, 65_535)

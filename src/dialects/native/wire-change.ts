import { z } from 'zod'

/** What becomes of files. */

const lineNumber = z.int().min(1).nullable()

const changeLine = z.object({
  kind: z.enum([' ', '+', '-']).describe('in both versions, only in the new one, only in the old one'),
  text: z.string().describe('without its line feed'),
  old: lineNumber.describe('its number in the old version; null: it is not in it'),
  new: lineNumber,
})

export const hunk = z.object({
  oldStart: z.int().min(0),
  oldLines: z.int().min(0),
  newStart: z.int().min(0),
  newLines: z.int().min(0),
  header: z.string().describe('the function around it, where git names one'),
  lines: z.array(changeLine).readonly(),
})

export const fileChange = z.object({
  path: z.string(),
  oldPath: z.string().nullable().describe('the name before, where it had another one'),
  status: z.enum(['added', 'deleted', 'modified', 'renamed']),
  isBinary: z.boolean(),
  additions: z.int().min(0),
  deletions: z.int().min(0),
  hunks: z.array(hunk).readonly(),
  truncated: z.boolean().describe('there is more than the hunks say'),
})

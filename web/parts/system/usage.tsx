export function UsageSection() {
  return null
}

/** "1:05". @param milliseconds from 0. */
export function formatClock(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000)
  const minutes = Math.floor(seconds / 60)
  const padded = String(seconds % 60).padStart(2, '0')
  if (minutes < 60) return `${minutes}:${padded}`
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${padded}`
}

/** How a moment is written in full, on pages, in mails and by scripts. */
export const FULL_TIME = {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const

/** Look of an organization's pages and mails for candidates. Colors are stored as chosen; html/brand.ts adapts them for display. */
export type Brand = {
  id: string
  name: string
  primaryColor: string | null
  backgroundColor: string | null
  /** SHA-256 in hexadecimal. */
  logoHash: string | null
  /** Sides in pixels. */
  logoWidth: number | null
  logoHeight: number | null
  /** Its main language, and by language the addresses that stand below: see page-links.ts. */
  language: string
  pageLinks: unknown
}

/** Prisma `select` of the columns of a brand. */
export const BRAND = {
  id: true,
  name: true,
  primaryColor: true,
  backgroundColor: true,
  logoHash: true,
  logoWidth: true,
  logoHeight: true,
  language: true,
  pageLinks: true,
} as const satisfies Record<keyof Brand, true>

/** A logo with the size at which it is shown; null: none. */
export type Logo = { hash: string; width: number; height: number }

/** It is never made larger, and keeps its proportions. @param most pixels. */
export function logoOf({ logoHash, logoWidth, logoHeight }: Brand, most: { width: number; height: number }): Logo | null {
  if (!logoHash || !logoWidth || !logoHeight) return null
  const scale = Math.min(1, most.width / logoWidth, most.height / logoHeight)
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale))
  return { hash: logoHash, width: side(logoWidth), height: side(logoHeight) }
}

export const hasBrand = ({ primaryColor, backgroundColor, logoHash }: Brand): boolean =>
  [primaryColor, backgroundColor, logoHash].some((value) => value !== null)

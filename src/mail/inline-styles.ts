import { type BrandColors, type BrandTheme, themeOf } from '../html/brand.ts'
import { secondaryColorOf } from '../html/palette.ts'

type Role = { layout: string; color?: (theme: BrandTheme) => string }

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"

/** Styles by the class names of print-html.ts. Colors come from the pages' theme or the organization's brand. */
const ROLES: Record<string, Role> = {
  page: { layout: 'margin:0;padding:0', color: backgroundOf },
  sheet: { layout: 'width:100%;table-layout:fixed', color: backgroundOf },
  around: { layout: 'padding:24px 8px' },
  // The width is an attribute, which Outlook reads; the style limits it on narrow screens.
  card: {
    layout: 'max-width:100%;table-layout:fixed;border-radius:12px;border:1px solid',
    color: (theme) => `background-color:${theme['base-100']};border-color:${theme['base-300']}`,
  },
  inside: {
    layout: `padding:28px 24px 12px;${FONT};font-size:16px;line-height:1.5;text-align:start;overflow-wrap:break-word`,
    color: (theme) => `color:${theme['base-content']}`,
  },
  // A logo is designed for one background, so the plate keeps its color in dark mode. The alt text shows until the image loads.
  mark: { layout: 'margin:0 0 24px;border-collapse:separate' },
  plate: {
    layout: 'padding:10px 14px;border-radius:8px;font-weight:600',
    color: (theme) => `background-color:${theme.plate};color:${theme['plate-content']}`,
  },
  logo: { layout: 'display:block;border:0;max-width:100%;height:auto' },
  text: { layout: 'margin:0 0 16px' },
  action: { layout: 'margin:28px 0;border-collapse:separate' },
  // Outlook ignores the link's padding and uses the cell's. Other programs make the whole cell the link.
  button: { layout: 'border-radius:8px;mso-padding-alt:12px 24px', color: (theme) => `background-color:${theme.primary}` },
  label: {
    layout: `display:inline-block;padding:12px 24px;border-radius:8px;${FONT};font-size:16px;font-weight:600;text-decoration:none`,
    color: (theme) => `color:${theme['primary-content']}`,
  },
  box: { layout: 'margin:0 0 16px;border-collapse:separate' },
  quote: { layout: 'padding:12px 16px;border-radius:8px', color: backgroundOf },
  notice: {
    layout: 'padding:12px 16px;border-radius:8px;border:1px solid;font-weight:600',
    color: (theme) => `${backgroundOf(theme)};border-color:${theme['base-300']}`,
  },
  boxed: { layout: 'margin:0' },
  list: { layout: 'margin:0 0 16px;padding-block:0;padding-inline:20px 0' },
  item: { layout: 'margin:0 0 4px' },
  small: { layout: 'margin:0 0 16px;font-size:14px', color: quietText },
  link: { layout: 'text-decoration:underline', color: linkColor },
  // A URL without break opportunities would widen the card.
  address: { layout: 'text-decoration:underline;word-break:break-all', color: linkColor },
  closing: {
    layout: 'margin:24px 0 16px;font-size:14px;padding-top:16px;border-top:1px solid',
    color: (theme) => `${quietText(theme)};border-color:${theme['base-300']}`,
  },
}

function backgroundOf(theme: BrandTheme): string {
  return `background-color:${theme['base-200']}`
}

function quietText(theme: BrandTheme): string {
  return `color:${secondaryColorOf(theme)}`
}

function linkColor(theme: BrandTheme): string {
  return `color:${theme.primary}`
}

/** Dark colors for programs that support the media query. Inline styles win over style sheets, except over `!important`. */
const darkRules = (theme: BrandTheme): string =>
  Object.entries(ROLES)
    .map(([name, { color }]) => (color ? `.${name}{${color(theme).replaceAll(/;|$/g, '!important$&')}}` : ''))
    .join('')

/** Replaced in previews that show one color scheme. */
export const DARK_QUERY = '@media (prefers-color-scheme:dark)'
const DEFAULT_COLORS: BrandColors = { primaryColor: null, backgroundColor: null }

/**
 * Adds inline styles for each class, because many mail programs read nothing else, and a style sheet with dark colors. User text can't
 * inject a class, because quotes are escaped. html/brand.ts validates stored colors.
 *
 * @throws Error for an unknown class.
 */
export function inlineStyles(mail: string, colors: BrandColors = DEFAULT_COLORS): string {
  const light = themeOf(colors, 'light')
  const styled = mail.replace(/ class="([^"]*)"/g, (attribute, name: string) => {
    const role = ROLES[name]
    if (!role) throw new Error(`A mail's template has the class ${name}`)
    return `${attribute} style="${[role.layout, role.color?.(light)].filter(Boolean).join(';')}"`
  })
  return styled.replace('</head>', `<style>${DARK_QUERY}{${darkRules(themeOf(colors, 'dark'))}}</style>\n</head>`)
}

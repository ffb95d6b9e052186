import { palette, quietOf, type Theme } from '../html/palette.ts'

type Role = { layout: string; color?: (theme: Theme) => string }

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"

/** What the classes of print-html.ts mean. Colours are the pages', which nothing but this says in a mail. */
const ROLES: Record<string, Role> = {
  page: { layout: 'margin:0;padding:0', color: groundOf },
  sheet: { layout: 'width:100%;table-layout:fixed', color: groundOf },
  around: { layout: 'padding:24px 8px' },
  // The attribute has the width, which Outlook reads and which a narrow screen then limits.
  card: {
    layout: 'max-width:100%;table-layout:fixed;border-radius:12px;border:1px solid',
    color: (theme) => `background-color:${theme['base-100']};border-color:${theme['base-300']}`,
  },
  inside: {
    layout: `padding:28px 24px 12px;${FONT};font-size:16px;line-height:1.5;text-align:start;overflow-wrap:break-word`,
    color: (theme) => `color:${theme['base-content']}`,
  },
  text: { layout: 'margin:0 0 16px' },
  action: { layout: 'margin:28px 0;border-collapse:separate' },
  // Outlook's engine gives the link no padding: it reads the cell's. All others make the whole of it the link.
  button: { layout: 'border-radius:8px;mso-padding-alt:12px 24px', color: (theme) => `background-color:${theme.primary}` },
  label: {
    layout: `display:inline-block;padding:12px 24px;border-radius:8px;${FONT};font-size:16px;font-weight:600;text-decoration:none`,
    color: (theme) => `color:${theme['primary-content']}`,
  },
  box: { layout: 'margin:0 0 16px;border-collapse:separate' },
  quote: { layout: 'padding:12px 16px;border-radius:8px', color: groundOf },
  notice: {
    layout: 'padding:12px 16px;border-radius:8px;border:1px solid;font-weight:600',
    color: (theme) => `${groundOf(theme)};border-color:${theme['base-300']}`,
  },
  boxed: { layout: 'margin:0' },
  list: { layout: 'margin:0 0 16px;padding-block:0;padding-inline:20px 0' },
  item: { layout: 'margin:0 0 4px' },
  small: { layout: 'margin:0 0 16px;font-size:14px', color: quietText },
  link: { layout: 'text-decoration:underline', color: linkColor },
  // It has no place to break at but anywhere, and would widen the card.
  address: { layout: 'text-decoration:underline;word-break:break-all', color: linkColor },
  closing: {
    layout: 'margin:24px 0 16px;font-size:14px;padding-top:16px;border-top:1px solid',
    color: (theme) => `${quietText(theme)};border-color:${theme['base-300']}`,
  },
}

function groundOf(theme: Theme): string {
  return `background-color:${theme['base-200']}`
}

function quietText(theme: Theme): string {
  return `color:${quietOf(theme)}`
}

function linkColor(theme: Theme): string {
  return `color:${theme.primary}`
}

/** For programs that read styles and know what their reader prefers. Inlined ones weigh more, but for what is important. */
const DARK = Object.entries(ROLES)
  .map(([name, { color }]) => (color ? `.${name}{${color(palette.dark).replaceAll(/;|$/g, '!important$&')}}` : ''))
  .join('')

/**
 * Gives each class of a mail its style at the element, because many mail programs read nothing else; and all of them the dark colours.
 * Quotes are escaped in what others have written: a class is a template's.
 *
 * @throws Error for a class that means nothing here.
 */
export function inlineStyles(mail: string): string {
  const styled = mail.replace(/ class="([^"]*)"/g, (given, name: string) => {
    const role = ROLES[name]
    if (!role) throw new Error(`A mail's template has the class ${name}`)
    return `${given} style="${[role.layout, role.color?.(palette.light)].filter(Boolean).join(';')}"`
  })
  return styled.replace('</head>', `<style>@media (prefers-color-scheme:dark){${DARK}}</style>\n</head>`)
}

/** Where owners set up single sign-on, within their organization. */
export const BASE = 'settings/sign-in'

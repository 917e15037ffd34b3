/** Version of this agent, the same as in package.json (checked by a test). */
export const VERSION = "0.1.0";

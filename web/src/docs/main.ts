// The script of the documentation's pages. They can be read without it.

import "../look/tokens.css";
import "./docs.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { markWhereOneIs } from "./here-mark.ts";
import { offerSearch } from "./search-window.ts";

addCopyButtons();
markWhereOneIs();
offerSearch();
